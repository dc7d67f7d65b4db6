import PageFile

/// What the ids tree has for a name of a message.
///
/// See docs/message-format.md, S-7.
///
///     place                       the message is there, and has this name in its key
///     place, bytes of a name      the message is there, and has that name in its key
///     0x03                        it was deleted, and stays so
///     0x04, bytes of a name       another name of a message that is not here yet
enum IDEntry: Hashable {
  case here(Position)
  case deleted
  case alias(of: MessageID)

  private static let deletedMark: UInt8 = 3
  private static let aliasMark: UInt8 = 4

  /// Reads the entry of a name; nil when these bytes are none.
  init?(_ id: MessageID, _ value: Bytes) {
    switch value.count > 0 ? value[0] : 0 {
    case Self.deletedMark:
      guard value.count == 1 else { return nil }
      self = .deleted
    case Self.aliasMark:
      guard let name = Self.name(value.dropFirst(1)) else { return nil }
      self = .alias(of: name)
    default:
      guard let (place, byteCount) = value.place(at: 0) else { return nil }
      if byteCount == value.count {
        self = .here(Position(place, id))
      } else {
        guard let name = Self.name(value.dropFirst(byteCount)) else { return nil }
        self = .here(Position(place, name))
      }
    }
  }

  private static func name(_ bytes: Bytes) -> MessageID? {
    guard (1...Identifier.byteCountMax).contains(bytes.count), bytes.isText else { return nil }
    return MessageID(bytes)
  }

  /// Writes the entry of a name.
  func append(for id: MessageID, to buffer: inout ByteBuffer) {
    switch self {
    case .here(let position):
      buffer.append(position.place)
      if position.id != id { buffer.append(position.id) }
    case .deleted:
      buffer.append(Self.deletedMark)
    case .alias(let name):
      buffer.append(Self.aliasMark)
      buffer.append(name)
    }
  }
}

extension StoreReader {
  /// What the ids tree has for a name of a message, or nil.
  func entry(of id: MessageID, in conversation: UInt32) throws(StoreError) -> IDEntry? {
    let key = KeyEncoding.key(conversation, id)
    var value = ByteBuffer()
    guard key.count > KeyEncoding.numberByteCount, key.count <= BTree.keyByteCountMax,
      try self.value(of: key.bytes, in: Schema.ids, appendTo: &value)
    else { return nil }
    guard let entry = IDEntry(id, value.bytes) else {
      throw corrupt(Schema.ids, "message \"\(id)\" has no place")
    }
    return entry
  }

  /// The greatest name that a conversation has in the ids tree, or nil.
  func lastName(in conversation: UInt32) throws(StoreError) -> MessageID? {
    var cursor = Cursor(source, Schema.ids)
    let end = KeyEncoding.key(conversation &+ 1)
    let prefix = KeyEncoding.key(conversation)
    let isThere = try storage { () throws(PageFileError) in
      _ = try cursor.seek(end.bytes)
      return try cursor.previous()
    }
    guard isThere, cursor.keyHasPrefix(prefix.bytes) else { return nil }
    var name = ByteBuffer()
    cursor.appendKey(to: &name, dropping: KeyEncoding.numberByteCount)
    return MessageID(name.bytes)
  }

  /// Where a message is, or nil when it is not there.
  func position(of id: MessageID, in conversation: UInt32) throws(StoreError) -> Position? {
    guard case .here(let position)? = try entry(of: id, in: conversation) else { return nil }
    return position
  }
}

extension WriteState {
  /// What the ids tree has for a name of a message, or nil.
  ///
  /// Most names come in their order, whether a clock or a counter makes them: one that is greater than
  /// all others is not looked for.
  func entry(
    of id: MessageID, in conversation: OpenConversation
  ) throws(StoreError) -> IDEntry? {
    if let greatest = conversation.greatestName {
      if greatest < id { return nil }
    } else {
      conversation.greatestName = try reader.lastName(in: conversation.number) ?? ""
    }
    return try reader.entry(of: id, in: conversation.number)
  }

  /// Writes the ids tree's entry of a name.
  func write(
    _ entry: IDEntry, of id: MessageID, in conversation: UInt32
  ) throws(StoreError) {
    memory.conversations[conversation]?.raiseGreatestName(to: id)
    let key = KeyEncoding.key(conversation, id)
    var value = ByteBuffer()
    entry.append(for: id, to: &value)
    try insert(key.bytes, value.bytes, in: Schema.ids)
  }

  /// Writes where a message is under the name in its key.
  func writeEntry(
    at position: Position, in conversation: OpenConversation
  ) throws(StoreError) {
    conversation.raiseGreatestName(to: position.id)
    let key = KeyEncoding.key(conversation.number, position.id)
    var value = ByteBuffer()
    value.append(position.place)
    try insert(key.bytes, value.bytes, in: Schema.ids)
  }

  /// Forgets a name that the ids tree has.
  func removeEntry(of id: MessageID, in conversation: UInt32) throws(StoreError) {
    let key = KeyEncoding.key(conversation, id)
    try remove(key.bytes, in: Schema.ids)
  }
}
