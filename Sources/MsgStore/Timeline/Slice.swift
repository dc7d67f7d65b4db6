import PageFile

/// A run of messages of one conversation, oldest first, and why it ends where it does.
///
/// It owns one copy of the stored bytes, checked when it was made; a `Message` is made each time one
/// is touched, which cannot fail and costs about as much as making its text's string. So a slice is
/// cheap to make and to pass on, and a screen pays for what it shows.
public struct Slice: Sendable, RandomAccessCollection {
  /// Whether older messages lie before the first.
  public var older: Edge {
    if let gap = content.gaps.older { return gap.edge }
    guard content.hasOlder else { return .end }
    return .more(first?.position ?? content.gaps.newer?.beyond ?? .end)
  }
  /// Whether newer messages lie behind the last.
  public var newer: Edge {
    if let gap = content.gaps.newer { return gap.edge }
    guard content.hasNewer else { return .end }
    return .more(last?.position ?? content.gaps.older?.beyond ?? .start)
  }

  private let content: SliceContent

  init(_ content: SliceContent) { self.content = content }

  /// Always 0.
  public var startIndex: Int { 0 }
  /// The number of messages.
  public var endIndex: Int { content.rows.count }

  /// The message at an index.
  ///
  /// Traps outside `indices`.
  public subscript(index: Int) -> Message { content.message(at: index) }

  /// Goes through the messages, oldest first.
  public func makeIterator() -> Iterator { Iterator(content) }

  /// Hands out each message as it is made, where the library's iterator would copy it once more.
  public struct Iterator: IteratorProtocol {
    private let content: SliceContent
    private var index = 0

    init(_ content: SliceContent) { self.content = content }

    /// The next message, or nil behind the last.
    public mutating func next() -> Message? {
      guard index < content.rows.count else { return nil }
      defer { index += 1 }
      return content.message(at: index)
    }
  }
}

extension Slice: Hashable {
  /// Equality of the messages and of the edges.
  public static func == (a: Slice, b: Slice) -> Bool {
    a.count == b.count && a.older == b.older && a.newer == b.newer && a.elementsEqual(b)
  }

  /// Feeds the names of the messages to a hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(count)
    for message in self { hasher.combine(message.id) }
  }
}

/// One message of a slice: its numbers, and where its bytes lie in the slice's buffer.
struct SliceRow {
  let place: Place
  /// The local time of an acknowledged message, the sequence of a pending one.
  let extra: Int64
  let idOffset: Int
  let textOffset: Int
  let textByteCount: Int32
  let senderIndex: Int32
  /// Where in the slice's list what few messages have is; -1 of all others.
  let rareIndex: Int32
  let idByteCount: UInt8
  let hasExtra: Bool
  let isASCII: Bool
  let status: MessageStatus
}

/// The gaps that a slice ends at.
struct SliceGaps {
  struct Gap {
    let missing: ClosedRange<Int64>
    /// Between the gap's two neighbours, so that reading from it in either direction begins with one
    /// of them; it is the position of no message, so that no gap is looked for at it.
    let beyond: Position

    var edge: Edge { .gap(missing, beyond: beyond) }
  }

  var older: Gap?
  var newer: Gap?
}

/// What the copies of one slice share.
///
/// Rows were copied in the order in which a cursor met them: first those from some message onwards,
/// then those before it, newest of them first. Nothing is moved afterwards; an index is turned into
/// a row by arithmetic.
final class SliceContent: @unchecked Sendable {
  // Unchecked: nothing changes after init, and the buffer is only read.
  let rows: [SliceRow]
  private let rares: [Message.Rare]
  let hasOlder: Bool
  let hasNewer: Bool
  let gaps: SliceGaps
  private let forwardCount: Int
  private let buffer: ByteBuffer
  private let origin: Message.Origin

  init(
    rows: [SliceRow], rares: [Message.Rare], forwardCount: Int, buffer: consuming ByteBuffer,
    origin: Message.Origin, hasOlder: Bool, hasNewer: Bool, gaps: SliceGaps
  ) {
    self.rows = rows
    self.rares = rares
    self.forwardCount = forwardCount
    self.buffer = buffer
    self.origin = origin
    self.hasOlder = hasOlder
    self.hasNewer = hasNewer
    self.gaps = gaps
  }

  func message(at index: Int) -> Message {
    let backwardCount = rows.count - forwardCount
    let row = rows[index < backwardCount ? rows.count - 1 - index : index - backwardCount]
    let bytes = buffer.bytes
    // Unsafe: the builder has validated the text.
    let text = unsafe bytes.slice(row.textOffset, Int(row.textByteCount))
      .uncheckedText(isASCII: row.isASCII)
    let rare = row.rareIndex < 0 ? nil : rares[Int(row.rareIndex)]
    return Message.stored(
      id: rare?.fields.ownID ?? MessageID(bytes.slice(row.idOffset, Int(row.idByteCount))),
      from: origin, senderIndex: row.senderIndex, text: text, place: row.place,
      hasExtra: row.hasExtra, extra: row.extra, status: row.status,
      rare: rare)
  }
}
