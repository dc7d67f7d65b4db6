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
  /// Where in the slice's list what few messages have is; -1 of all others.
  @usableFromInline let rareIndex: Int32
  @usableFromInline let idByteCount: UInt8
  /// 0: it answers none, or what it answers is with the rest of what few messages have.
  @usableFromInline let replyByteCount: UInt8
  @usableFromInline let fields: Message.Fields
  @usableFromInline let isPending: Bool
  /// Whether the text is.
  @usableFromInline let isASCII: Bool
  /// Whether it is acknowledged, has a name of at most 31 bytes, and nothing that few have.
  @usableFromInline let isPlain: Bool

  var place: Place {
    isPending
      ? .pending(time, localOrder: rank)
      : .acknowledged(time, sequence: fields[.sequence] ? rank : nil)
  }
}

/// The rows of a slice, in memory of their own.
///
/// A row is nothing but numbers; an array would ask at each of them who else has the array.
@safe
struct SliceRows: ~Copyable {
  private var base: UnsafeMutablePointer<SliceRow>
  private(set) var count = 0
  private var capacity: Int

  init(capacity: Int) {
    self.capacity = max(capacity, 1)
    unsafe base = .allocate(capacity: self.capacity)
  }

  deinit { unsafe base.deallocate() }

  /// Where the rows lie, as long as none is added.
  @unsafe var start: UnsafePointer<SliceRow> { unsafe UnsafePointer(base) }

  subscript(index: Int) -> SliceRow {
    precondition(index >= 0 && index < count, "no such row")
    return unsafe base[index]
  }

  mutating func append(_ row: SliceRow) {
    if count == capacity { grow() }
    unsafe (base + count).initialize(to: row)
    count += 1
  }

  mutating func removeLast() {
    precondition(count > 0, "no row to remove")
    count -= 1
  }

  @inline(never)
  private mutating func grow() {
    let larger = UnsafeMutablePointer<SliceRow>.allocate(capacity: capacity * 2)
    unsafe larger.moveInitialize(from: base, count: count)
    unsafe base.deallocate()
    unsafe base = larger
    capacity *= 2
  }
}

/// A message on its way into a slice: what its record says, wherever it was.
///
/// Its bytes lie in the builder's buffer already; offsets are kept because the buffer may move. What
/// it answers has been checked, id and text have not.
struct MessageParts {
  let place: Place
  let idOffset: Int
  let idByteCount: Int
  let sender: UInt32
  var status: MessageStatus
  /// The local time of an acknowledged message, the sequence of a pending one.
  var extra: Int64?
  var replyOffset = 0
  /// 0: it answers none.
  var replyByteCount = 0
  /// Uncompressed, and nothing where the message was taken back.
  var textOffset: Int
  var textByteCount: Int
}
