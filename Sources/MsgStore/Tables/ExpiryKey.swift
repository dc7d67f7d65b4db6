package import PageFile

/// The messages of one moment of a conversation that expire at one time, or the end of its mute.
///
/// See docs/message-format.md, F-24 … F-29.
///
///     key    time of expiry (8), number of the conversation (4), phase (1), time (8)
///     value  number of such messages, see `CellCount`
///
///     key    time at which its mute ends (8), number of the conversation (4)
///     value  empty
///
/// Before all entries lies the border of those that the counters have let go:
///
///     key    0x00
///     value  an `ExpiryBorder`
package struct ExpiryKey: Equatable, Comparable {
  /// The time of expiry.
  package var time: Int64
  package var conversation: UInt32
  /// The moment at which the messages stand in their thread; nil for the end of a mute.
  package internal(set) var moment: ThreadMoment?

  /// The byte count of the entry of a mute.
  static let muteByteCount = 8 + KeyEncoding.numberByteCount
  package static let byteCount = muteByteCount + ThreadMoment.byteCount

  package init(time: Int64, conversation: UInt32, _ moment: ThreadMoment?) {
    self.time = time
    self.conversation = conversation
    self.moment = moment
  }

  /// The entry of a mute.
  package init(muteOf conversation: UInt32, until time: Int64) {
    self.init(time: time, conversation: conversation, nil)
  }

  /// The least key of a time, below those of all conversations.
  package static func start(of time: Int64) -> ExpiryKey {
    ExpiryKey(time: time, conversation: 0, ThreadMoment(.acknowledged(.min, sequence: .min)))
  }

  /// Decodes a key.
  ///
  /// Returns nil if the bytes are not a key of an entry.
  package init?(_ key: Bytes) {
    guard key.count == Self.byteCount || key.count == Self.muteByteCount,
      let conversation = key.bigEndianNumber(at: 8)
    else { return nil }
    time = KeyEncoding.unflipped(key.bigEndian64(at: 0))
    self.conversation = conversation
    if key.count == Self.muteByteCount { return }
    guard let moment = ThreadMoment(key, at: Self.muteByteCount) else { return nil }
    self.moment = moment
  }

  /// The bytes of the key.
  package var encoded: ByteBuffer {
    let start = ByteBuffer().appending(KeyEncoding.flipped(time)).appending(conversation)
    guard let moment else { return start }
    return start.appending(moment)
  }

  package static func < (a: ExpiryKey, b: ExpiryKey) -> Bool {
    if a.time != b.time { return a.time < b.time }
    if a.conversation != b.conversation { return a.conversation < b.conversation }
    guard let moment = b.moment else { return false }
    return a.moment.map { $0 < moment } ?? true
  }

  /// The key of the border of the messages that counters have let go.
  package static var reachedKey: ByteBuffer { KeyEncoding.prefix(0) }

  /// Returns true if the readers accept these bytes as a cell of the tree.
  static func canRead(_ key: Bytes, _ value: Bytes) -> Bool {
    if key.count == 1 { return key[0] == 0 && ExpiryBorder(value) != nil }
    guard let entry = ExpiryKey(key) else { return false }
    return entry.moment == nil ? value.count == 0 : CellCount.decode(value) != nil
  }
}

extension ExpiryKey: RecordIndex {
  package static var tree: TreeNumber { Schema.expiry }
  package static let isCounted = true

  package static func forEachKey(
    of entry: ExpiryKey, _ body: (borrowing ByteBuffer) throws(StoreError) -> Void
  ) throws(StoreError) {
    try body(entry.encoded)
  }
}

/// The border between the expiring messages that the counters have let go and the others.
///
/// It lies before an entry, or among the messages of one: many may have one time of expiry and one
/// moment, and a step takes only so many.
///
///     key of an entry (21 or 12); or time of expiry (8), number (4), and the rest of a message's
///     key
package struct ExpiryBorder: Equatable {
  /// The first entry with messages that have not been let go.
  package var entry: ExpiryKey
  /// The first message of this entry that has not been let go; nil if none of them has.
  package internal(set) var position: MessagePosition?

  package init(_ entry: ExpiryKey, _ position: MessagePosition? = nil) {
    self.entry = entry
    self.position = position
  }

  /// Decodes a border.
  ///
  /// Returns nil if the bytes are not a valid one.
  package init?(_ value: Bytes) {
    let byteCount = min(value.count, ExpiryKey.byteCount)
    guard let entry = ExpiryKey(value.slice(0, byteCount)) else { return nil }
    self.entry = entry
    if value.count == byteCount { return }
    guard let position = value.dropFirst(ExpiryKey.muteByteCount).position else { return nil }
    self.position = position
  }

  /// The bytes of the border.
  package var encoded: ByteBuffer {
    guard let position else { return entry.encoded }
    return ByteBuffer().appending(KeyEncoding.flipped(entry.time)).appending(entry.conversation)
      .appending(position)
  }

  /// Returns true if a message at a position, with this entry, has been let go.
  package func isBehind(_ entry: ExpiryKey, _ position: MessagePosition) -> Bool {
    if entry != self.entry { return entry < self.entry }
    return self.position.map { position < $0 } ?? false
  }

  /// Returns true if the mute with this entry has been let go.
  package func isBehind(_ mute: ExpiryKey) -> Bool { mute < entry }
}

/// A reader of the expiry tree.
package struct ExpiryIndex {
  let view: StoreView

  /// True if no message of the store expires, and no mute ends.
  @inline(__always)
  package var isUnused: Bool { view.source.root(of: Schema.expiry) == .none }

  /// Returns the first entry that is not below a key, or nil after the last.
  package func first(from start: ExpiryKey) throws(StoreError) -> ExpiryKey? {
    if isUnused { return nil }
    var cursor = Cursor(view.source, Schema.expiry)
    let start = start.encoded
    try storage { () throws(PageFileError) in _ = try cursor.seek(start.bytes) }
    return try key(at: cursor)
  }

  /// Returns the first entry of all.
  package func first() throws(StoreError) -> ExpiryKey? {
    try first(from: .start(of: .min))
  }

  /// Returns the first entry above a key.
  package func first(behind entry: ExpiryKey) throws(StoreError) -> ExpiryKey? {
    if isUnused { return nil }
    var cursor = Cursor(view.source, Schema.expiry)
    // No key lies between one and the same bytes with a zero behind them.
    let start = entry.encoded.appending(UInt8(0))
    try storage { () throws(PageFileError) in _ = try cursor.seek(start.bytes) }
    return try key(at: cursor)
  }

  /// Returns the first entry with a time above a given one.
  package func first(after time: Int64) throws(StoreError) -> ExpiryKey? {
    time == .max ? nil : try first(from: .start(of: time + 1))
  }

  /// Returns the last entry of which messages lie before a border, or nil before the first.
  package func last(before border: ExpiryBorder) throws(StoreError) -> ExpiryKey? {
    if border.position != nil, try count(border.entry) > 0 { return border.entry }
    return try last(before: border.entry)
  }

  /// Returns the last entry below a key, or nil before the first.
  private func last(before end: ExpiryKey) throws(StoreError) -> ExpiryKey? {
    if isUnused { return nil }
    var cursor = Cursor(view.source, Schema.expiry)
    let end = end.encoded
    let isThere = try storage { () throws(PageFileError) in
      _ = try cursor.seek(end.bytes)
      return try cursor.previous()
    }
    let reached = ExpiryKey.reachedKey
    guard isThere, cursor.compareKey(to: reached.bytes) != 0 else { return nil }
    return try key(at: cursor)
  }

  private func key(at cursor: borrowing Cursor) throws(StoreError) -> ExpiryKey? {
    guard cursor.isAtCell else { return nil }
    var key = ByteBuffer(capacity: 32)
    cursor.appendKey(to: &key)
    guard let entry = ExpiryKey(key.bytes) else {
      throw view.corrupt(Schema.expiry, "malformed key (\(key.count) bytes)")
    }
    return entry
  }

  /// Returns the number of messages of an entry, 1 for a mute: 0 without one.
  package func count(_ entry: ExpiryKey) throws(StoreError) -> UInt64 {
    let key = entry.encoded
    var value = ByteBuffer(capacity: 16)
    guard try view.value(of: key.bytes, in: Schema.expiry, appendTo: &value) else { return 0 }
    guard let count = CellCount.decode(value.bytes) else {
      throw view.corrupt(Schema.expiry, "malformed entry (\(value.count) bytes)")
    }
    return count
  }

  /// Returns the border of the messages that the counters have let go; nil if they count all.
  package func reached() throws(StoreError) -> ExpiryBorder? {
    if isUnused { return nil }
    var value = ByteBuffer(capacity: 32)
    let key = ExpiryKey.reachedKey
    guard try view.value(of: key.bytes, in: Schema.expiry, appendTo: &value) else { return nil }
    guard let reached = ExpiryBorder(value.bytes) else {
      throw view.corrupt(Schema.expiry, "malformed border (\(value.count) bytes)")
    }
    return reached
  }

  /// Returns the part of the store that is hidden at a time.
  func hiding(at now: Int64) throws(StoreError) -> Hiding {
    let reached = try reached()
    var hiding = Hiding()
    if let reached, let last = try last(before: reached) { hiding.isLetGo = last.time > now }
    guard let first = try first(), first.time <= now else { return hiding }
    let next = try self.first(from: reached?.entry ?? .start(of: .min))
    hiding.time = now
    hiding.isCounted = next.map { $0.time <= now } ?? false
    return hiding
  }
}

/// The messages that a view passes over because they have expired, and the mutes that have ended.
package struct Hiding: Equatable {
  /// Messages that expire and mutes that end at this time or earlier do not count; nil in a store
  /// without either.
  package var time: Int64?
  /// True if summaries may show and count some of them.
  package internal(set) var isCounted = false
  /// True if the counters have let some of the others go, by a clock that was set back since.
  package internal(set) var isLetGo = false

  package init() {}
}

extension StoreView {
  package var expiry: ExpiryIndex { ExpiryIndex(view: self) }

  /// Returns true if a message with these traits is hidden from this view.
  @inline(__always)
  func hides(_ traits: MessageTraits) -> Bool {
    guard let time = hiding.time, let expiryTime = traits.expiryTime else { return false }
    return expiryTime <= time && !StoreDefect.expiredShown.isPlanted
  }

  /// Returns true if a conversation is muted at the time of this view.
  func isMuted(_ details: ConversationDetails, _ marks: ConversationSummary.Flags) -> Bool {
    guard let end = details.mutedUntil else { return marks.contains(.muted) }
    if details.hasMuteEnded { return false }
    // Without a time no mute has ended by the clock, but the counters may be ahead of it.
    return hiding.time.map { end > $0 } ?? (marks.contains(.muted) || hiding.isLetGo)
  }
}

extension MessageRecord {
  /// The time at which the message expires, read without the rest of the traits.
  package var expiryTime: Int64? {
    flags.contains(.traits) ? MessageTraits.expiryTime(in: traitsBytes) : nil
  }
}

extension MessageTraits {
  /// Returns the time of expiry of a block, read without the rest of it; nil without one.
  ///
  /// Accepts any bytes.
  @inline(__always)
  static func expiryTime(in block: Bytes) -> Int64? {
    var reader = ByteReader(block)
    // The time comes first, so that a look at it costs no more.
    guard let bits = reader.varint(), bits & UInt64(Bits.expires.rawValue) != 0,
      let time = reader.uint64()
    else { return nil }
    return Int64(bitPattern: time)
  }
}
