import PageFile

/// The rare fields of a slice's messages while they are collected.
///
/// Most slices need none of it, and copy only this reference. Exclusive access is asked for once
/// for each message.
final class DeferredBox {
  private var rares: DeferredRares?

  init(_ view: StoreView, _ number: UInt32) { rares = DeferredRares(view, number) }

  /// Appends the rare fields of a message, and returns their index.
  func append(
    _ traits: Bytes, _ outline: TraitsOutline, of id: Bytes
  ) throws(StoreError) -> Int32 {
    try rares?.append(traits, outline, of: id) ?? -1
  }

  /// Returns the fields of all messages.
  ///
  /// Nothing can be appended afterwards.
  func takeRares() -> SliceRares? { rares.take()?.sliceRares() }
}

/// Copies the rare fields of a slice's messages, checks them, and leaves decoding for later.
///
/// The facts of neighbours mostly lie in one leaf, so one cursor serves all of them.
private struct DeferredRares: ~Copyable {
  private let view: StoreView
  private var list = MemberList(reservedCount: 8)
  private var buffer = ByteBuffer(capacity: 1024)
  private var entries: [SliceRares.Entry] = []
  private var facts: Cursor
  /// The prefix of a message's facts; begins with the number of the conversation.
  private var prefix: ByteBuffer
  private var key = ByteBuffer(capacity: 64)
  private var value = ByteBuffer(capacity: 64)
  /// The indices of the members whom the last message names.
  private var members = ByteBuffer(capacity: 64)

  init(_ view: StoreView, _ number: UInt32) {
    self.view = view
    facts = Cursor(view.source, Schema.facts)
    prefix = KeyEncoding.key(number)
  }

  mutating func append(
    _ traits: Bytes, _ outline: TraitsOutline, of id: Bytes
  ) throws(StoreError) -> Int32 {
    let offset = buffer.count
    members.removeAll()
    buffer.append(varint: UInt64(traits.count))
    buffer.append(traits)
    var reader = ByteReader(traits, at: outline.mentionsOffset)
    for _ in 0..<outline.mentionCount {
      try appendMember(UInt32(truncatingIfNeeded: reader.varint() ?? 0))
    }
    if outline.bits.isDisjoint(with: [.reactions, .attachments]) {
      buffer.append(littleEndian: UInt16(0))
    } else {
      try appendFacts(outline, of: id)
    }
    let byteCount = buffer.count - offset
    let memberCount = members.count / 4
    buffer.append(members.bytes)
    entries.append(
      SliceRares.Entry(offset: offset, byteCount: byteCount, memberCount: memberCount))
    return Int32(entries.count - 1)
  }

  private mutating func appendMember(_ number: UInt32) throws(StoreError) {
    members.append(littleEndian: UInt32(bitPattern: try list.index(of: number, view)))
  }

  private mutating func appendFacts(
    _ outline: TraitsOutline, of id: Bytes
  ) throws(StoreError) {
    prefix.truncate(to: KeyEncoding.numberByteCount)
    prefix.append(UInt8(truncatingIfNeeded: id.count))
    prefix.append(id)
    let isListed = 1...Message.maximumListedReactionCount ~= outline.reactionCount
    if outline.bits.contains(.reactions), isListed {
      try appendEach(.reaction)
    } else {
      buffer.append(0)
    }
    if outline.bits.contains(.attachments) { try appendEach(.attachment) } else { buffer.append(0) }
  }

  /// Appends all facts of a kind behind their count.
  private mutating func appendEach(_ kind: FactKind) throws(StoreError) {
    let prefixByteCount = prefix.count
    prefix.append(kind.rawValue)
    defer { prefix.truncate(to: prefixByteCount) }
    // The count is inserted when it is known; it nearly always has one byte.
    let countOffset = buffer.count
    buffer.append(0)
    var count = 0
    try storage { () throws(PageFileError) in _ = try facts.seek(prefix.bytes) }
    while facts.isAtCell, facts.keyHasPrefix(prefix.bytes) {
      key.removeAll()
      facts.appendKey(to: &key, dropping: prefix.count)
      if try appendFact(kind) { count += 1 }
      try storage { () throws(PageFileError) in _ = try facts.next() }
    }
    setCount(count, at: countOffset)
  }

  private mutating func setCount(_ count: Int, at offset: Int) {
    if count < 0x80 {
      buffer.mutableBytes[offset] = UInt8(count)
      return
    }
    var whole = ByteBuffer()
    whole.append(varint: UInt64(count))
    whole.append(buffer.bytes.dropFirst(offset + 1))
    buffer.truncate(to: offset)
    buffer.append(whole.bytes)
  }

  /// Appends the fact at the cursor, whose key behind the prefix was copied.
  ///
  /// Returns false for a removed reaction, which is left out.
  private mutating func appendFact(_ kind: FactKind) throws(StoreError) -> Bool {
    var bytes = facts.inlineValue ?? .empty
    if facts.inlineValue == nil {
      value.removeAll()
      try view.append(facts, to: &value)
      bytes = value.bytes
    }
    guard kind == .reaction else {
      guard AttachmentRecord.isValid(bytes) else {
        throw view.corrupt(Schema.facts, "attachment: malformed record (key \(key.bytes.array()))")
      }
      buffer.append(varint: UInt64(bytes.count))
      buffer.append(bytes)
      return true
    }
    guard let (member, emoji, record) = ReactionRecord.parts(key.bytes, bytes) else {
      throw view.corrupt(Schema.facts, "malformed reaction (key \(key.bytes.array()))")
    }
    if record.isRemoved { return false }
    buffer.append(littleEndian: UInt64(bitPattern: record.time))
    buffer.append(UInt8(truncatingIfNeeded: emoji.count))
    buffer.append(emoji)
    buffer.append(UInt8(truncatingIfNeeded: record.serverName?.byteCount ?? 0))
    if let name = record.serverName { buffer.append(name) }
    try appendMember(member)
    return true
  }

  consuming func sliceRares() -> SliceRares { SliceRares(buffer, entries, list.members) }
}
