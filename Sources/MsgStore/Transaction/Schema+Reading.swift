package import PageFile

/// Whether a cell can be read, which is asked of every cell that is written in a debug build.
///
/// A writer that passes a limit which readers hold makes a store that cannot be read: so one renaming
/// too many once made the whole list of conversations unreadable. `Transaction` asserts this where it
/// inserts, whatever the cell is, but for what it copies from elsewhere in the store: stored bytes must
/// never trap. A cell is looked at alone, so it costs what one read of it does.
extension Schema {
  /// Whether the readers take these bytes for an entry of the tree.
  ///
  /// Any bytes may be given. Of a segment only what needs no dictionary is looked at.
  package static func canRead(_ key: Bytes, _ value: Bytes, in tree: TreeNumber) -> Bool {
    switch tree {
    case settings: canReadSetting(key, value)
    case conversationNames: isName(key) && ConversationName(value) != nil
    case conversations: canReadConversation(key, value)
    case activity: ListPlace.parts(key) != nil && value.count == 0
    case memberNames: isName(key) && value.count == 4
    case members: key.count == 4 && isName(value)
    case messages: canReadMessage(key, value)
    case ids: isNameInConversation(key) && IDEntry(MessageID(key.dropFirst(4)), value) != nil
    case participants: key.count == 12 && value.count == 0
    case facts: canReadFact(key, value)
    case receipts: canReadReceipt(key, value)
    case sequences: KnownSequences.run(key, value) != nil
    case waiting: key.count == 8 && isNameInConversation(value)
    case client: ClientKey.parts(key) != nil && value.count <= SyncPosition.byteCountMax
    case work: canReadWork(key, value)
    case transfers: canReadTransfer(key) && value.count == 0
    default: false
    }
  }

  private static func isName(_ bytes: Bytes) -> Bool {
    (1...Identifier.byteCountMax).contains(bytes.count) && bytes.isText
  }

  /// The number of a conversation and the name of a message.
  private static func isNameInConversation(_ bytes: Bytes) -> Bool {
    bytes.count > 4 && isName(bytes.dropFirst(4))
  }

  private static func canReadSetting(_ key: Bytes, _ value: Bytes) -> Bool {
    guard key.count > 0, key[0] == DictionaryPieces.mark else { return value.count == 8 }
    return key.count == 8 && value.count > DictionaryPieces.headByteCount
  }

  private static func canReadConversation(_ key: Bytes, _ value: Bytes) -> Bool {
    switch key.count {
    case 4: ConversationSummary(value) != nil
    case 5: canReadConversationCell(key[4], value)
    default: false
    }
  }

  /// The same for a cell that a conversation has beside its summary.
  package static func canReadConversationCell(_ suffix: UInt8, _ value: Bytes) -> Bool {
    switch suffix {
    case ConversationDetails.keySuffix: ConversationDetails(value) != nil
    case DraftRecord.keySuffix: DraftRecord(value) != nil
    case ConversationMembers.keySuffix: ConversationMembers(value) != nil
    default: false
    }
  }

  private static func canReadMessage(_ key: Bytes, _ value: Bytes) -> Bool {
    guard key.count > 4, let position = key.dropFirst(4).position else { return false }
    if Segment.isSegment(value) { return !position.place.isPending && SegmentHeader(value) != nil }
    guard let record = MessageRecord(value) else { return false }
    return StoredMessage(record, at: position.place) != nil
  }

  private static func canReadFact(_ key: Bytes, _ value: Bytes) -> Bool {
    guard let (_, _, kind, rest) = FactKey.parts(key) else { return false }
    return canReadFact(kind, rest, value)
  }

  /// The same for a fact whose key was read.
  /// - Parameter rest: What the key has behind the kind.
  package static func canReadFact(_ kind: FactKind, _ rest: Bytes, _ value: Bytes) -> Bool {
    switch kind {
    case .version: VersionRecord.version(rest, value) != nil
    case .reaction:
      rest.count > 4 && rest.dropFirst(4).isValidUTF8 && ReactionRecord(value) != nil
    case .attachment: rest.isValidUTF8 && AttachmentRecord(value) != nil
    case .waiting: rest.count == 0 && WaitingFacts(value) != nil
    case .receipt: rest.count == 4 && ExactReceipt(value) != nil
    case .waitingMark: rest.count == 5 && isWaitingMark(rest, value)
    }
  }

  private static func isWaitingMark(_ rest: Bytes, _ value: Bytes) -> Bool {
    var reader = ByteReader(value)
    return ReceiptKind(rawValue: rest[0]) != nil && reader.optionalTime() != nil && reader.isAtEnd
  }

  private static func canReadReceipt(_ key: Bytes, _ value: Bytes) -> Bool {
    switch ReceiptKey.parts(key) {
    case .member: ReceiptRecord(value) != nil
    case .own: ConversationReceipts(value) != nil
    case .exact:
      {
        var reader = ByteReader(value)
        return reader.varint() != nil && reader.isAtEnd
      }()
    case .pending: value.count == 0
    case nil: false
    }
  }

  private static func canReadWork(_ key: Bytes, _ value: Bytes) -> Bool {
    switch key.count > 0 ? key[0] : 0 {
    case 0: key.count == 8 && WorkRecord(value) != nil
    case OutboxKey.entryPrefix: key.count == 9 && OutboxRecord(value) != nil
    case OutboxKey.listPrefix, OutboxKey.lanePrefix: key.count == 13 && value.count == 0
    case OutboxKey.duePrefix: OutboxKey.dueParts(key) != nil && value.count == 0
    case OutboxKey.messagePrefix: canReadMessageOfOutbox(key) && value.count == 0
    case OutboxKey.laneRecordPrefix: key.count == 5 && OutboxLane(value) != nil
    case OutboxKey.totalsPrefix: key.count == 1 && OutboxTotals(value) != nil
    case OutboxKey.sweepPrefix: key.count == 5 && value.count == 4
    case OutboxKey.releasePrefix: key.count == 9 && OutboxRelease(value) != nil
    case OutboxKey.decisionPrefix: key.count == 9 && value.count == 8
    default: false
    }
  }

  private static func canReadMessageOfOutbox(_ key: Bytes) -> Bool {
    guard key.count > 6, case let byteCount = Int(key[5]), key.count == 6 + byteCount + 8 else {
      return false
    }
    return isName(key.slice(6, byteCount))
  }

  private static func canReadTransfer(_ key: Bytes) -> Bool {
    guard let (_, _, fact) = TransferIndex.parts(key) else { return false }
    return FactKey.parts(fact).map { $0.kind == .attachment } ?? false
  }
}
