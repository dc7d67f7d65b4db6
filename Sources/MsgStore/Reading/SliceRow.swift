import PageFile

/// One message of a slice: its numbers, and where its bytes lie in the slice's buffer.
@usableFromInline
struct SliceRow {
  /// The server's time of an acknowledged message, the local time of a pending one.
  @usableFromInline let time: Int64
  /// The sequence of an acknowledged message, the local order of a pending one.
  @usableFromInline let rank: Int64
  /// The local time of an acknowledged message, the sequence of a pending one.
  @usableFromInline let extra: Int64
  @usableFromInline let idOffset: Int
  @usableFromInline let textOffset: Int
  @usableFromInline let replyOffset: Int
  @usableFromInline let textByteCount: Int32
  @usableFromInline let senderIndex: Int32
  /// The index of the rare fields, among those decoded when they are asked for if `isDeferred`,
  /// else in the slice's list; -1 if the message has none.
  @usableFromInline let rareIndex: Int32
  @usableFromInline let idByteCount: UInt8
  /// 0 if the message answers none, or one with a long name, which is among the rare fields.
  @usableFromInline let replyByteCount: UInt8
  @usableFromInline let fields: Message.Fields
  @usableFromInline let isPending: Bool
  /// True if the text is ASCII.
  @usableFromInline let isASCII: Bool
  /// True if the rare fields are decoded when they are asked for.
  let isDeferred: Bool
  /// True if the message has a name of at most 31 bytes and no rare fields in the slice's list, and
  /// is not pending.
  @usableFromInline let isPlain: Bool

  var place: Place {
    isPending
      ? .pending(time, localOrder: rank)
      : .acknowledged(time, sequence: fields[.sequence] ? rank : nil)
  }
}

/// The rows of a slice, in memory of their own.
///
/// A row consists of numbers alone. An array would check for unique ownership on each access.
@safe
struct SliceRows: ~Copyable {
  private var base: UnsafeMutablePointer<SliceRow>
  private(set) var count = 0
  private var capacity: Int

  init(capacity: Int) {
    self.capacity = max(capacity, 1)
    unsafe base = Self.allocate(self.capacity)
  }

  deinit { unsafe Memory.free(base) }

  private static func allocate(_ capacity: Int) -> UnsafeMutablePointer<SliceRow> {
    unsafe Memory.allocate(capacity * MemoryLayout<SliceRow>.stride)
      .bindMemory(to: SliceRow.self, capacity: capacity)
  }

  /// The address of the rows, valid until a row is added.
  @unsafe var start: UnsafePointer<SliceRow> { unsafe UnsafePointer(base) }

  subscript(index: Int) -> SliceRow {
    precondition(index >= 0 && index < count, "SliceRows: index out of range")
    return unsafe base[index]
  }

  mutating func append(_ row: SliceRow) {
    if count == capacity { grow() }
    unsafe (base + count).initialize(to: row)
    count += 1
  }

  mutating func removeLast() {
    precondition(count > 0, "SliceRows: no row to remove")
    count -= 1
  }

  @inline(never)
  private mutating func grow() {
    let larger = unsafe Self.allocate(capacity * 2)
    unsafe larger.moveInitialize(from: base, count: count)
    unsafe Memory.free(base)
    unsafe base = larger
    capacity *= 2
  }
}

/// A message on its way into a slice: the contents of its record, wherever it was stored.
///
/// Its bytes are already in the builder's buffer. Offsets are kept because the buffer may move. The
/// name of the answered message has been validated; id and text have not.
struct MessageParts {
  let place: Place
  let idOffset: Int
  let idByteCount: Int
  let sender: UInt32
  var status: MessageStatus
  /// The local time of an acknowledged message, the sequence of a pending one.
  var extra: Int64?
  var replyOffset = 0
  /// 0 if the message answers none.
  var replyByteCount = 0
  /// The location of the uncompressed text, which is empty if the message was retracted.
  var textOffset: Int
  var textByteCount: Int
}
