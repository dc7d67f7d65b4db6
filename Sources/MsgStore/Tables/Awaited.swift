import PageFile

/// The recipients that an own message with receipts by name waits for: one who has not read it, and
/// one who has not received it.
///
/// Part of a message's traits, see docs/message-format.md, X-8. While such a member takes part and
/// has no mark behind the message, not all have it, whatever the other receipts say.
package struct Awaited: Equatable {
  /// The number of the member; 0 if all recipients had read it when they were looked through.
  package var read: UInt32
  /// The same for receiving it.
  package var delivered: UInt32
  /// The conversation's ordinal of comings when nobody was found missing.
  package internal(set) var comings: UInt64

  package init(read: UInt32, delivered: UInt32, comings: UInt64) {
    self.read = read
    self.delivered = delivered
    self.comings = comings
  }

  package subscript(kind: ReceiptKind) -> UInt32 {
    get { kind == .read ? read : delivered }
    set { if kind == .read { read = newValue } else { delivered = newValue } }
  }

  /// True if nobody was found missing.
  package var isAll: Bool { read == 0 || delivered == 0 }

  /// Reads what `append` has written.
  init?(_ reader: inout ByteReader) {
    guard let read = reader.varint().flatMap(UInt32.init(exactly:)),
      let delivered = reader.varint().flatMap(UInt32.init(exactly:)),
      let comings = reader.varint()
    else { return nil }
    self.init(read: read, delivered: delivered, comings: comings)
  }

  func append(to buffer: inout ByteBuffer) {
    buffer.append(varint: UInt64(read))
    buffer.append(varint: UInt64(delivered))
    buffer.append(varint: comings)
  }
}

extension ExactReceipt {
  /// Returns true if the receipt says that its member has received, or read, the message.
  package func has(_ kind: ReceiptKind) -> Bool { isRead || kind == .delivered && isDelivered }
}

extension ReceiptRecord {
  /// Returns true if the marks say that their member has received, or read, a message.
  @inline(never)
  package func has(_ kind: ReceiptKind, at position: MessagePosition) -> Bool {
    read.covers(position) || kind == .delivered && delivered.covers(position)
  }
}

/// A walk along the receipts by name of one message, in order of the members' numbers.
private struct NamedReceiptWalk: ~Copyable {
  private let view: StoreView
  private let prefix: ByteBuffer
  private var cursor: Cursor
  private var isBegun = false
  private var key = ByteBuffer()
  private var value = ByteBuffer()

  init(_ view: StoreView, _ name: MessageID, in conversation: UInt32) {
    self.view = view
    prefix = FactKey.prefix(conversation, name, .receipt)
    cursor = Cursor(view.source, Schema.facts)
  }

  /// Returns the receipt of a member; the numbers given must ascend.
  mutating func receipt(of member: UInt32) throws(StoreError) -> ExactReceipt? {
    if !isBegun {
      isBegun = true
      var first = ByteBuffer()
      first.append(prefix.bytes)
      first.append(bigEndian: member)
      try storage { () throws(PageFileError) in _ = try cursor.seek(first.bytes) }
    }
    while cursor.isAtCell, cursor.keyHasPrefix(prefix.bytes) {
      key.removeAll()
      cursor.appendKey(to: &key, dropping: prefix.count)
      guard key.count == 4, let number = key.bytes.bigEndianNumber(at: 0) else {
        throw view.corrupt(Schema.facts, "malformed receipt of a message")
      }
      if number > member { return nil }
      if number == member {
        value.removeAll()
        try view.append(cursor, to: &value)
        guard let receipt = ExactReceipt(value.bytes) else {
          throw view.corrupt(Schema.facts, "malformed receipt of a message")
        }
        return receipt
      }
      try storage { () throws(PageFileError) in _ = try cursor.next() }
    }
    return nil
  }
}

/// A search for the recipients that messages of one conversation wait for.
///
/// Marks of members are read once each.
package struct AwaitedSearch {
  private let view: StoreView
  private let conversation: UInt32
  private var recipients: Recipients?
  private var records: [UInt32: ReceiptRecord] = [:]
  private var known: [UInt32: Recipient?] = [:]

  package init(_ view: StoreView, _ conversation: UInt32) {
    self.view = view
    self.conversation = conversation
  }

  private mutating func loadedRecipients() throws(StoreError) -> Recipients {
    if let recipients { return recipients }
    let members = try view.conversations.inlineMembers(conversation)
    let loaded =
      members.map { Recipients.listed($0.recipients(without: nil)) } ?? .cells(without: nil)
    recipients = loaded
    return loaded
  }

  @inline(never)
  private mutating func marks(of member: UInt32) throws(StoreError) -> ReceiptRecord {
    if let record = records[member] { return record }
    let record = try view.receipts.receipts(of: member, in: conversation)
    records[member] = record
    return record
  }

  private mutating func recipient(_ number: UInt32) throws(StoreError) -> Recipient? {
    if let known = known[number] { return known }
    let recipients = try loadedRecipients()
    let walk = try RecipientWalk(
      view, recipients, of: conversation, from: number, before: nil)
    let found = walk.recipient?.number == number ? walk.recipient : nil
    known.updateValue(found, forKey: number)
    return found
  }

  /// Returns true if a member is a recipient of a message and has no mark behind it.
  ///
  /// Receipts by name are not looked at.
  @inline(never)
  package mutating func isMissing(
    _ member: UInt32, _ kind: ReceiptKind, at position: MessagePosition, from sender: UInt32
  ) throws(StoreError) -> Bool {
    guard member != sender, let recipient = try recipient(member), recipient.wasIn(at: position)
    else { return false }
    return try !marks(of: member).has(kind, at: position)
  }

  /// Returns the first recipient, from a number on and then from the beginning, who has not
  /// received or read a message; 0 if all have, nil if it has no recipients.
  package mutating func first(
    _ kind: ReceiptKind, missing name: MessageID, at position: MessagePosition,
    from sender: UInt32, beginningWith start: UInt32
  ) throws(StoreError) -> UInt32? {
    let recipients = try loadedRecipients()
    var isAnybody = false
    for (start, end) in [(start, nil), (1, start)] as [(UInt32, UInt32?)] {
      if let end, end <= start { break }
      var walk = try RecipientWalk(view, recipients, of: conversation, from: start, before: end)
      var receipts = NamedReceiptWalk(view, name, in: conversation)
      while let recipient = walk.recipient {
        if recipient.number != sender, recipient.wasIn(at: position) {
          isAnybody = true
          let receipt = try receipts.receipt(of: recipient.number)
          if receipt?.has(kind) != true,
            try !marks(of: recipient.number).has(kind, at: position)
          {
            return recipient.number
          }
        }
        try walk.step()
      }
    }
    return isAnybody ? 0 : nil
  }
}
