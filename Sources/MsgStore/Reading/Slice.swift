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

  @usableFromInline let content: SliceContent

  init(_ content: SliceContent) { self.content = content }

  /// Always 0.
  @inlinable public var startIndex: Int { 0 }
  /// The number of messages.
  @inlinable public var endIndex: Int { content.count }

  /// The message at an index.
  ///
  /// Traps outside `indices`.
  @inlinable public subscript(index: Int) -> Message { content.message(at: index) }

  /// Goes through the messages, oldest first.
  @inlinable public func makeIterator() -> Iterator { Iterator(content) }

  /// Hands out each message as it is made, where the library's iterator would copy it once more.
  public struct Iterator: IteratorProtocol {
    @usableFromInline let content: SliceContent
    @usableFromInline var index = 0

    @inlinable init(_ content: SliceContent) { self.content = content }

    /// The next message, or nil behind the last.
    @inlinable @inline(__always)
    public mutating func next() -> Message? {
      guard index < content.count else { return nil }
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
