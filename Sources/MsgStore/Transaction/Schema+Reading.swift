package import PageFile

/// Checks that a cell can be read.
///
/// Debug builds check every cell that they write.
///
/// A writer that exceeds a limit enforced by readers makes a store that cannot be read: one
/// renaming too many once made the whole list of conversations unreadable. `Transaction` asserts
/// this wherever it inserts a cell of any kind, except for cells copied from elsewhere in the
/// store, since stored bytes must never trap. Each cell is checked alone, at the cost of one read.
extension Schema {
  /// Returns true if the readers accept these bytes as an entry of the tree.
  ///
  /// Accepts any bytes. Only those parts of a segment are checked that need no dictionary.
  package static func canRead(_ key: Bytes, _ value: Bytes, in tree: TreeNumber) -> Bool {
    switch tree {
    case settings: canReadSetting(key, value)
    case names: canReadName(key, value)
    case conversations: canReadConversation(key, value)
    case directory, retention: canReadRecord(key, value, in: tree)
    case activity: ListPlace.parts(key) != nil && value.count == 0
    case messages: canReadMessage(key, value)
    case ids: isNameInConversation(key) && IDEntry(MessageID(key.dropFirst(4)), value) != nil
    case facts: canReadFact(key, value)
    case client: ClientKey.parts(key) != nil && value.count <= SyncPosition.maximumByteCount
    case work: canReadWork(key, value)
    case beside: canReadBeside(key, value)
    case index: canReadIndex(key, value)
    case expiry: ExpiryKey.canRead(key, value)
    default: false
    }
  }

  private static func isName(_ bytes: Bytes) -> Bool {
    (1...Identifier.maximumByteCount).contains(bytes.count) && bytes.isText
  }

  /// Checks for the number of a conversation followed by the name of a message.
  private static func isNameInConversation(_ bytes: Bytes) -> Bool {
    bytes.count > 4 && isName(bytes.dropFirst(4))
  }

  private static func canReadName(_ key: Bytes, _ value: Bytes) -> Bool {
    guard let (kind, rest) = NameKey.parts(key) else { return false }
    return switch kind {
    case .conversation: isName(rest) && ConversationName(value) != nil
    case .member: isName(rest) && value.count == 4
    case .participants: rest.count == 12 && value.count == 0
    }
  }

  private static func canReadConversation(_ key: Bytes, _ value: Bytes) -> Bool {
    if case .exact? = ReceiptKey.parts(key) { return value.count == 0 }
    return KnownSequences.run(key, value) != nil || canReadRecord(key, value, in: conversations)
  }

  private static func canReadSetting(_ key: Bytes, _ value: Bytes) -> Bool {
    guard key.count > 0, key[0] == DictionaryPieces.mark else { return value.count == 8 }
    return key.count == 8 && value.count > DictionaryPieces.headByteCount
  }

  private static func canReadMessage(_ key: Bytes, _ value: Bytes) -> Bool {
    guard key.count > 4, let position = key.dropFirst(4).position else { return false }
    if Segment.isSegment(value) { return !position.place.isPending && SegmentHeader(value) != nil }
    guard let record = MessageRecord(value) else { return false }
    return StoredMessage(record, at: position.place) != nil
  }

  private static func canReadBeside(_ key: Bytes, _ value: Bytes) -> Bool {
    value.count > 0 && value[0] == MessageRecord.tag && canReadMessage(key, value)
      && SegmentEncoder.canHold(key, value)
  }

  private static func canReadFact(_ key: Bytes, _ value: Bytes) -> Bool {
    guard let (_, _, kind, rest) = FactKey.parts(key) else { return false }
    return canReadFact(kind, rest, value)
  }

  /// Returns true if the readers accept a fact whose key is decoded already.
  ///
  /// - Parameter rest: The bytes of the key that follow the kind.
  package static func canReadFact(_ kind: FactKind, _ rest: Bytes, _ value: Bytes) -> Bool {
    switch kind {
    case .version: VersionRecord.version(rest, value) != nil
    case .reaction: ReactionRecord.parts(rest, value) != nil
    case .removedReaction: ReactionRecord.parts(rest, value)?.2.isRemoved ?? false
    case .emojiCount: EmojiCountRecord.isEmoji(rest) && EmojiCountRecord(value) != nil
    case .emojiRank: EmojiCountRecord.emoji(ofRank: rest) != nil && value.count == 0
    case .attachment: rest.isValidUTF8 && AttachmentRecord(value) != nil
    case .waiting: rest.count == 0 && WaitingFacts(value) != nil
    case .tag: TagRecord.parts(rest, value) != nil
    case .receipt: rest.count == 4 && ExactReceipt(value) != nil
    case .waitingMark:
      rest.count == 5 && ReceiptKind(rawValue: rest[0]) != nil && WaitingMark(value) != nil
    case .ownField: FactKey.isOwnFieldName(rest) && OwnFieldRecord.isValid(value)
    }
  }

  private static func canReadWork(_ key: Bytes, _ value: Bytes) -> Bool {
    switch key.count > 0 ? key[0] : 0 {
    case OutboxKey.conversationPrefix where key.count > 5: canReadEntryOfOutbox(key, value)
    case OutboxKey.schedulePrefix, OutboxKey.duePrefix:
      OutboxKey.timeParts(key, key[0]) != nil && value.count == 0
    case OutboxKey.sweepPrefix: key.count == 5 && OutboxSweep(value) != nil
    case OutboxKey.decisionPrefix: key.count == 9 && value.count == 8
    default: canReadRecord(key, value, in: work)
    }
  }

  private static func canReadEntryOfOutbox(_ key: Bytes, _ value: Bytes) -> Bool {
    guard value.count == 0, let (part, _) = OutboxKey.conversationParts(key) else { return false }
    guard part == .messages else { return true }
    // The entries of a conversation's own fields have no name.
    let name = OutboxKey.name(key)
    return name.count == 0 || isName(name)
  }

  private static func canReadIndex(_ key: Bytes, _ value: Bytes) -> Bool {
    switch key.indexKind {
    case .tag: TagKey.canRead(key, value)
    case .reply: ReplyKey.parts(key) != nil && CellCount.decode(value) != nil
    case .waiting: WaitingKey.parts(key) != nil && value.count == 0
    case .moving, .hashed, .neededFile: TransferIndex.fact(key) != nil && value.count == 0
    case .unneededFile: FileIndex.unneededParts(key, value) != nil
    case .pendingReceipts: PendingKey.parts(key) != nil && value.count == 0
    case .member: MemberKey.number(key) != nil && isName(value)
    case nil: false
    }
  }
}
