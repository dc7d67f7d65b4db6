/// A run of messages of one conversation, oldest first, with the reasons for which it ends on each
/// side.
///
/// A slice owns one copy of the stored bytes, which was checked when it was made. A `Message` is
/// created on each access. That cannot fail and costs about as much as creating the string of its
/// text. A slice is therefore cheap to create and to pass on, and a screen pays only for the
/// messages that it shows. A slice stays valid after the snapshot it came from.
public struct MessageSlice: Sendable, RandomAccessCollection {
  /// The edge before the first message: the end of the thread, more messages, a gap, or pruned
  /// messages.
  public var older: SliceBoundary {
    if let gap = content.gaps.older { return gap.edge }
    guard content.hasOlder else { return .end }
    return .more(first?.position ?? content.gaps.newer?.beyond ?? .end)
  }
  /// The edge after the last message: the end of the thread, more messages, a gap, or pruned
  /// messages.
  public var newer: SliceBoundary {
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
  /// Traps if the index is not in `indices`.
  @inlinable public subscript(index: Int) -> Message { content.message(at: index) }

  /// Returns an iterator over the messages, oldest first.
  @inlinable public func makeIterator() -> Iterator { Iterator(content) }

  /// An iterator that creates each message as it is returned.
  ///
  /// The library's iterator would copy it once more.
  public struct Iterator: IteratorProtocol {
    @usableFromInline let content: SliceContent
    @usableFromInline var index = 0

    @inlinable init(_ content: SliceContent) { self.content = content }

    /// Returns the next message, or nil after the last.
    @inlinable @inline(__always)
    public mutating func next() -> Message? {
      guard index < content.count else { return nil }
      defer { index += 1 }
      return content.message(at: index)
    }
  }
}

extension MessageSlice: Hashable {
  /// Returns true if the messages and the edges are equal.
  public static func == (a: MessageSlice, b: MessageSlice) -> Bool {
    a.count == b.count && a.older == b.older && a.newer == b.newer
      && a.indices.allSatisfy { a[$0] == b[$0] }
  }

  /// Hashes the ids of the messages.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(count)
    for message in self { hasher.combine(message.id) }
  }
}

extension MessageSlice: CustomStringConvertible {
  /// The number of messages and the ids of the first and the last.
  public var description: String {
    guard let first, let last else { return "no messages" }
    return count == 1
      ? "1 message (\"\(first.id)\")" : "\(count) messages (\"\(first.id)\" to \"\(last.id)\")"
  }
}

/// The gaps at which a slice ends: missing numbers, or pruned messages.
struct SliceGaps {
  /// A gap, with the position from which reading continues beyond it.
  struct Gap {
    let edge: SliceBoundary
    /// A position between the gap's two neighbours, so that reading from it in either direction
    /// begins with one of them; nil if there is nothing beyond it.
    ///
    /// No message has this position, so no gap is looked for at it.
    var beyond: MessagePosition? { edge.next }
  }

  var older: Gap?
  var newer: Gap?
}
