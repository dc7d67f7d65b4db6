/// A part of the messages that match a query, newest first.
public struct SearchSlice: Sendable, RandomAccessCollection {
  /// The edge to continue from; nil once all messages have been searched.
  public let edge: SearchEdge?
  /// The number of messages that were looked at for this slice.
  public let searchedMessageCount: Int
  private let hits: [SearchHit]

  init(_ hits: [SearchHit], edge: SearchEdge?, searchedMessageCount: Int) {
    self.hits = hits
    self.edge = edge
    self.searchedMessageCount = searchedMessageCount
  }

  /// Always 0.
  public var startIndex: Int { 0 }
  /// The number of hits.
  public var endIndex: Int { hits.count }
  /// The hit at an index.
  ///
  /// Traps outside `indices`.
  public subscript(index: Int) -> SearchHit { hits[index] }
}

/// A message that matches a query.
public struct SearchHit: Sendable, Hashable {
  /// The message.
  public let message: Message
  /// The ranges of the message's text in which terms occur: offsets of UTF-8 bytes, ascending,
  /// widened to whole characters.
  ///
  /// Empty if all terms occur in file names.
  public let textRanges: [Range<Int>]
  /// For each attachment in whose file name terms occur: its index in the message, and the ranges
  /// of the name, as of the text.
  public let fileNameRanges: [Int: [Range<Int>]]
}
