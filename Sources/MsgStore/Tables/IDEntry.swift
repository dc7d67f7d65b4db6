package import PageFile

/// An entry of the ids tree, which leads from a name of a message to its place.
///
/// See docs/message-format.md, S-7. Read and written by hand: every new message has one, and its
/// form depends on the name in its key.
///
///     place                       the message is here, and its key has this name
///     place, bytes of a name      the message is here, and its key has that name
///                                 the place as in a key, or short: 0x10 + the number of the unit
///                                 + 4 with a sequence, time in that unit and sequence as signed
///                                 varints
///     0x03                        the message was deleted, and stays so
///     0x04, bytes of a name       another name of a message that is not here yet
package enum IDEntry: Equatable {
  case here(MessagePosition)
  case deleted
  case alias(of: MessageID)

  private static let deletedMark: UInt8 = 3
  private static let aliasMark: UInt8 = 4

  /// Decodes the entry of a name.
  ///
  /// Returns nil if the bytes are not a valid entry.
  package init?(_ id: MessageID, _ value: Bytes) {
    switch value.count > 0 ? value[0] : 0 {
    case Self.deletedMark:
      guard value.count == 1 else { return nil }
      self = .deleted
    case Self.aliasMark:
      guard let name = Self.name(value.dropFirst(1)) else { return nil }
      self = .alias(of: name)
    default:
      guard let (place, byteCount) = Self.shortPlace(value) ?? value.place(at: 0) else {
        return nil
      }
      if byteCount == value.count {
        self = .here(MessagePosition(place, id))
      } else {
        guard let name = Self.name(value.dropFirst(byteCount)) else { return nil }
        self = .here(MessagePosition(place, name))
      }
    }
  }

  // Short places. Every message has a place here, and most times are at least whole milliseconds.

  private static let shortMark: UInt8 = 0x10
  private static let sequenceMark: UInt8 = 4

  /// Appends a place in its shortest form.
  static func append(_ place: Place, to buffer: inout ByteBuffer) {
    guard place.phase == .acknowledged else { return buffer.append(place) }
    let units = KeyEncoding.timeUnits
    var unit = units.count - 1
    while !place.time.isMultiple(of: units[unit]) { unit -= 1 }
    let mark = shortMark + UInt8(unit) + (place.hasRank ? sequenceMark : 0)
    buffer.append(mark)
    buffer.append(signedVarint: place.time / units[unit])
    if place.hasRank { buffer.append(signedVarint: place.rank) }
  }

  private static func shortPlace(_ value: Bytes) -> (place: Place, byteCount: Int)? {
    guard value.count > 0, case let code = value[0] &- shortMark, code < 2 * sequenceMark else {
      return nil
    }
    var reader = ByteReader(value, at: 1)
    guard let count = reader.signedVarint(),
      case let unit = KeyEncoding.timeUnits[Int(code % sequenceMark)],
      case let (time, isTooLong) = count.multipliedReportingOverflow(by: unit), !isTooLong
    else { return nil }
    guard code >= sequenceMark else {
      return (.acknowledged(time, sequence: nil), reader.offset)
    }
    guard let sequence = reader.signedVarint() else { return nil }
    return (.acknowledged(time, sequence: sequence), reader.offset)
  }

  private static func name(_ bytes: Bytes) -> MessageID? {
    guard (1...Identifier.maximumByteCount).contains(bytes.count), bytes.isText else { return nil }
    return MessageID(bytes)
  }

  /// Appends the entry of a name.
  func append(for id: MessageID, to buffer: inout ByteBuffer) {
    switch self {
    case .here(let position):
      Self.append(position.place, to: &buffer)
      if position.id != id { buffer.append(position.id) }
    case .deleted:
      buffer.append(Self.deletedMark)
    case .alias(let name):
      buffer.append(Self.aliasMark)
      buffer.append(name)
    }
  }
}

/// A reader of the ids tree, which leads from names of messages to their places.
package struct NameReader {
  let view: StoreView

  /// Returns the entry of a name of a message, or nil if the ids tree has no such name.
  @inline(never)
  package func entry(of id: MessageID, in conversation: UInt32) throws(StoreError) -> IDEntry? {
    let key = KeyEncoding.key(conversation, id)
    var value = ByteBuffer()
    guard key.count > KeyEncoding.numberByteCount, key.count <= BTree.maximumKeyByteCount,
      try view.value(of: key.bytes, in: Schema.ids, appendTo: &value)
    else { return nil }
    return try decode(value.bytes, of: id)
  }

  /// Returns the entry of a name of a message, or nil if the ids tree has no such name; and true if
  /// it has none that is greater, as far as the way to the name shows.
  func place(
    of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> (entry: IDEntry?, isGreatest: Bool) {
    let key = KeyEncoding.key(conversation, id)
    var value = ByteBuffer()
    guard key.count > KeyEncoding.numberByteCount, key.count <= BTree.maximumKeyByteCount else {
      return (nil, false)
    }
    let (isThere, isLast) = try storage { () throws(PageFileError) in
      try BTree(view.source, Schema.ids).value(
        of: key.bytes, appendTo: &value, lastOfSame: KeyEncoding.numberByteCount)
    }
    return (isThere ? try decode(value.bytes, of: id) : nil, isLast)
  }

  private func decode(_ value: Bytes, of id: MessageID) throws(StoreError) -> IDEntry {
    guard let entry = IDEntry(id, value) else {
      throw view.corrupt(Schema.ids, "message \"\(id)\": malformed id entry")
    }
    return entry
  }

  /// Returns the least name of a conversation that is not below a name, or nil if the ids tree has
  /// none.
  func firstName(
    from id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> MessageID? {
    var cursor = Cursor(view.source, Schema.ids)
    let key = KeyEncoding.key(conversation, id)
    let prefix = KeyEncoding.key(conversation)
    try storage { () throws(PageFileError) in _ = try cursor.seek(key.bytes) }
    guard cursor.isAtCell, cursor.keyHasPrefix(prefix.bytes) else { return nil }
    var name = ByteBuffer()
    cursor.appendKey(to: &name, dropping: KeyEncoding.numberByteCount)
    return MessageID(name.bytes)
  }
}

extension StoreView {
  package var ids: NameReader { NameReader(view: self) }
}
