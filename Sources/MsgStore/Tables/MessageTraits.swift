package import PageFile

/// The rare fields of a message, in one block of its record.
///
/// See docs/message-format.md, X-1 … X-14. Read and written by hand: it is part of a message.
///
///     size  field
///     1–4   bits, varint
///        8  with bit 4194304: time of expiry
///        8  with bit 4: time of the edit that the text is from
///        8  with bit 256: delivered at
///        8  with bit 512: read at
///     1+…   with bit 128: mentions: their count, then a member's number each, varints
///     1+…   with bit 1024: other names: their count, then byte count and bytes of each
///     1+…   with bit 2048: retries, a varint; 1 byte, with 1 the next retry (8); 1 byte, with 1
///           the last failure
///     1+8n  with bit 8192: edits made here that the server has not confirmed: their count, times
///     1–10  with bit 16384: revision of the place, signed varint
///        8  with bit 32768: time of the smallest place that had a sequence
///        8  with bit 65536: time of the retract
///     1+…   with bit 131072: reactions by emoji: their count; of each byte count, bytes, and twice
///           the number of members, plus 1 if the local member is one, a varint
///     3–20  with bit 262144: the members that are waited for in reading and in receiving, and the
///           ordinal of comings, varints
///     1+…   with bit 524288: own fields (`OwnFields+Block.swift`)
///     1–5   with bit 1048576: tags, a set of 32 bits as a varint
///     9+…   with bit 16777216: kept attachments: the time of the edit (8), their count, then byte
///           count and bytes of each id
///     1+n   with bit 33554432: the server's id of the edit that the text is from, its byte count
///           first
///
/// Bits without a field: 1 unsent, 2 hidden, 8 versions, 16 reactions, 32 attachments, 64 receipts,
/// 4096 seen, 2097152 tagged, 8388608 expired. Bits 8 to 64 and 2097152 say that the facts tree has
/// facts of that kind.
package struct MessageTraits: Equatable {
  /// The bits of a block: its optional fields and marks without a field.
  package struct Bits: OptionSet, Equatable, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }
    /// Retracted for good: text, history, reactions and attachments are gone.
    package static let retracted = Bits(rawValue: 1)
    /// Retracted here, but not yet confirmed by the server.
    package static let hidden = Bits(rawValue: 2)
    package static let edited = Bits(rawValue: 4)
    /// The facts tree has other versions of the text.
    package static let versions = Bits(rawValue: 8)
    package static let reactions = Bits(rawValue: 16)
    package static let attachments = Bits(rawValue: 32)
    /// The facts tree has named receipts for this message.
    package static let receipts = Bits(rawValue: 64)
    package static let mentions = Bits(rawValue: 128)
    package static let deliveredAt = Bits(rawValue: 256)
    package static let readAt = Bits(rawValue: 512)
    package static let names = Bits(rawValue: 1024)
    package static let sending = Bits(rawValue: 2048)
    /// The local member has read exactly this message.
    package static let seen = Bits(rawValue: 4096)
    package static let pendingEdits = Bits(rawValue: 8192)
    package static let revision = Bits(rawValue: 16384)
    package static let sequencedTime = Bits(rawValue: 32768)
    package static let retractedAt = Bits(rawValue: 65536)
    package static let reactionCounts = Bits(rawValue: 131_072)
    package static let awaited = Bits(rawValue: 262_144)
    package static let ownFields = Bits(rawValue: 524_288)
    package static let tags = Bits(rawValue: 1_048_576)
    /// The facts tree has tags that were set or removed.
    package static let tagged = Bits(rawValue: 2_097_152)
    package static let expires = Bits(rawValue: 4_194_304)
    /// Counters and lists have let the message go, because it has expired.
    package static let expired = Bits(rawValue: 8_388_608)
    package static let keptAttachments = Bits(rawValue: 16_777_216)
    package static let editName = Bits(rawValue: 33_554_432)

    /// The bits up to the greatest.
    package static let known: UInt64 = 67_108_863
    /// The bits that have no field.
    static let plain: Bits = [
      .retracted, .hidden, .versions, .reactions, .attachments, .receipts, .seen, .tagged,
      .expired,
    ]
    /// The bits that say that the facts tree has something.
    package static let facts: Bits = [.versions, .reactions, .attachments, .receipts, .tagged]
  }

  /// The progress of sending, known only to this device.
  package struct Sending: Equatable, Sendable {
    /// The number of retries, at most `maximumRetryCount`.
    package var retryCount: UInt64 = 0 {
      didSet { retryCount = min(retryCount, Self.maximumRetryCount) }
    }
    package var retryAt: Int64?
    package var failure: SendFailure?

    /// A limit from which counting on cannot overflow.
    static let maximumRetryCount: UInt64 = 1 << 60

    package init() {}
  }

  /// The bits without a field of their own that are set.
  ///
  /// Copies of a message unite them, so a fact that can be undone needs a time, too, and its rule
  /// in `Joins.swift`.
  package var marks: Bits = []
  /// The time at which the message expires; nil if it does not.
  package var expiryTime: Int64?
  package var editTime: Int64?
  package var deliveredAt: Int64?
  package var readAt: Int64?
  package var mentions: [UInt32] = []
  /// All names but the one in the key.
  ///
  /// The first is the message's own unless the key has that one.
  package var names: [MessageID] = []
  package var sending = Sending()
  package var pendingEdits: [Int64] = []
  package var revision: Int64 = 0
  package var sequencedTime: Int64?
  package var retractedAt: Int64?
  /// The reactions by emoji; nil if there are none, or if readers have to count them.
  package var reactionCounts: ReactionCounts?
  /// The recipients that the message waits for; nil if readers have to search for them.
  package internal(set) var awaited: Awaited?
  /// The client's own fields, packed.
  package var ownFields = OwnFields()
  /// The tags that do not follow from the rest of the record.
  package var tags: TagSet = []
  /// The attachments that the newest edit with a list of them leaves; nil without such an edit.
  package var keptAttachments: KeptAttachments?
  /// The server's own id of the edit that the text is from, if it has told one.
  package var editName: MessageID?

  package static let maximumMentionCount = 10_000
  package static let maximumNameCount = 16
  package static let maximumPendingEditCount = 1000

  package init() {}

  package var bits: Bits {
    var bits = marks
    if expiryTime != nil { bits.insert(.expires) }
    if editTime != nil { bits.insert(.edited) }
    if deliveredAt != nil { bits.insert(.deliveredAt) }
    if readAt != nil { bits.insert(.readAt) }
    if !mentions.isEmpty { bits.insert(.mentions) }
    if !names.isEmpty { bits.insert(.names) }
    if sending != Sending() { bits.insert(.sending) }
    if !pendingEdits.isEmpty { bits.insert(.pendingEdits) }
    if revision != 0 { bits.insert(.revision) }
    if sequencedTime != nil { bits.insert(.sequencedTime) }
    if retractedAt != nil { bits.insert(.retractedAt) }
    if reactionCounts != nil { bits.insert(.reactionCounts) }
    if awaited != nil { bits.insert(.awaited) }
    if !ownFields.isEmpty { bits.insert(.ownFields) }
    if !tags.isEmpty { bits.insert(.tags) }
    if keptAttachments != nil { bits.insert(.keptAttachments) }
    if editName != nil { bits.insert(.editName) }
    return bits
  }

  package var isEmpty: Bool { bits.isEmpty }

  /// True if the text is not shown because the message was retracted, for good or provisionally.
  package var isRetracted: Bool { !marks.isDisjoint(with: [.retracted, .hidden]) }

  /// True if counters and lists have let the message go, because it has expired.
  package var isLetGo: Bool { marks.contains(.expired) }

  /// Decodes a block of traits.
  ///
  /// Returns nil if the bytes are not a valid block; never traps.
  package init?(_ bytes: Bytes) {
    var reader = ByteReader(bytes)
    guard let raw = reader.varint(), raw > 0, raw <= Bits.known else { return nil }
    let bits = Bits(rawValue: UInt32(raw))
    marks = bits.intersection(.plain)
    guard readTimes(bits, &reader), readLists(bits, &reader), readPlace(bits, &reader),
      reader.isAtEnd, self.bits == bits
    else { return nil }
  }

  private mutating func readTimes(_ bits: Bits, _ reader: inout ByteReader) -> Bool {
    if bits.contains(.expires) {
      guard let time = reader.uint64() else { return false }
      expiryTime = Int64(bitPattern: time)
    } else if bits.contains(.expired) {
      return false
    }
    if bits.contains(.edited) {
      guard let time = reader.uint64() else { return false }
      editTime = Int64(bitPattern: time)
    }
    if bits.contains(.deliveredAt) {
      guard let time = reader.uint64() else { return false }
      deliveredAt = Int64(bitPattern: time)
    }
    if bits.contains(.readAt) {
      guard let time = reader.uint64() else { return false }
      readAt = Int64(bitPattern: time)
    }
    return true
  }

  private mutating func readLists(_ bits: Bits, _ reader: inout ByteReader) -> Bool {
    if bits.contains(.mentions) {
      guard let mentions = reader.mentions(), !mentions.isEmpty else { return false }
      self.mentions = mentions
    }
    if bits.contains(.names) {
      guard let count = reader.varint(), 1...UInt64(Self.maximumNameCount) ~= count else {
        return false
      }
      for _ in 0..<count {
        guard let byteCount = reader.byte(), byteCount > 0,
          let name = reader.take(Int(byteCount)), name.isValidUTF8
        else { return false }
        names.append(MessageID(name))
      }
    }
    if bits.contains(.sending) {
      guard let sending = Sending(&reader) else { return false }
      self.sending = sending
    }
    if bits.contains(.pendingEdits) {
      guard let count = reader.varint(), 1...UInt64(Self.maximumPendingEditCount) ~= count else {
        return false
      }
      for _ in 0..<count {
        guard let time = reader.uint64() else { return false }
        pendingEdits.append(Int64(bitPattern: time))
      }
    }
    return true
  }

  private mutating func readPlace(_ bits: Bits, _ reader: inout ByteReader) -> Bool {
    if bits.contains(.revision) {
      guard let revision = reader.signedVarint() else { return false }
      self.revision = revision
    }
    if bits.contains(.sequencedTime) {
      guard let time = reader.uint64() else { return false }
      sequencedTime = Int64(bitPattern: time)
    }
    if bits.contains(.retractedAt) {
      guard let time = reader.uint64() else { return false }
      retractedAt = Int64(bitPattern: time)
    }
    if bits.contains(.reactionCounts) {
      guard marks.contains(.reactions), let counts = ReactionCounts(&reader) else { return false }
      reactionCounts = counts
    }
    if bits.contains(.awaited) {
      guard marks.contains(.receipts), let awaited = Awaited(&reader) else { return false }
      self.awaited = awaited
    }
    if bits.contains(.ownFields) {
      guard let fields = OwnFields(&reader) else { return false }
      ownFields = fields
    }
    if bits.contains(.tags) {
      guard let tags = TagSet(&reader, marks) else { return false }
      self.tags = tags
    }
    if bits.contains(.keptAttachments) {
      guard let kept = KeptAttachments(&reader) else { return false }
      keptAttachments = kept
    }
    if bits.contains(.editName) {
      guard bits.contains(.edited), let byteCount = reader.byte(), byteCount > 0,
        let name = reader.take(Int(byteCount)), name.isValidUTF8
      else { return false }
      editName = MessageID(name)
    }
    return true
  }

  /// Appends the block.
  package func append(to buffer: inout ByteBuffer) {
    let bits = bits
    buffer.append(varint: UInt64(bits.rawValue))
    for case let time? in [expiryTime, editTime, deliveredAt, readAt] { buffer.append(time: time) }
    if bits.contains(.mentions) { buffer.append(mentions: mentions) }
    if bits.contains(.names) {
      buffer.append(varint: UInt64(names.count))
      for name in names {
        buffer.append(UInt8(name.byteCount))
        buffer.append(name)
      }
    }
    if bits.contains(.sending) { sending.append(to: &buffer) }
    if bits.contains(.pendingEdits) {
      buffer.append(varint: UInt64(pendingEdits.count))
      for time in pendingEdits { buffer.append(time: time) }
    }
    if bits.contains(.revision) { buffer.append(signedVarint: revision) }
    for case let time? in [sequencedTime, retractedAt] { buffer.append(time: time) }
    reactionCounts?.append(to: &buffer)
    awaited?.append(to: &buffer)
    if bits.contains(.ownFields) { ownFields.append(to: &buffer) }
    if bits.contains(.tags) { buffer.append(varint: UInt64(tags.rawValue)) }
    keptAttachments?.append(to: &buffer)
    if let editName {
      buffer.append(UInt8(editName.byteCount))
      buffer.append(editName)
    }
  }
}

extension MessageTraits.Sending {
  fileprivate init?(_ reader: inout ByteReader) {
    guard let count = reader.varint(), count <= Self.maximumRetryCount, let hasTime = reader.byte(),
      hasTime <= 1
    else {
      return nil
    }
    retryCount = count
    if hasTime == 1 {
      guard let time = reader.uint64() else { return nil }
      retryAt = Int64(bitPattern: time)
    }
    guard let hasFailure = reader.byte(), hasFailure <= 1 else { return nil }
    if hasFailure == 1 {
      guard let failure = SendFailure(&reader) else { return nil }
      self.failure = failure
    }
  }

  fileprivate func append(to buffer: inout ByteBuffer) {
    buffer.append(varint: retryCount)
    buffer.append(retryAt == nil ? 0 : 1)
    if let retryAt { buffer.append(time: retryAt) }
    buffer.append(failure == nil ? 0 : 1)
    failure?.append(to: &buffer)
  }
}

extension ByteReader {
  /// Reads member numbers, prefixed by their count.
  mutating func mentions() -> [UInt32]? {
    guard let count = varint(), count <= UInt64(MessageTraits.maximumMentionCount) else {
      return nil
    }
    var members: [UInt32] = []
    for _ in 0..<count {
      guard let number = varint(), number <= UInt64(UInt32.max) else { return nil }
      members.append(UInt32(number))
    }
    return members
  }
}

extension ByteBuffer {
  mutating func append(mentions: [UInt32]) {
    append(varint: UInt64(mentions.count))
    for number in mentions { append(varint: UInt64(number)) }
  }

  /// Appends the bits of a signed time as eight bytes.
  mutating func append(time: Int64) { append(littleEndian: UInt64(bitPattern: time)) }
}
