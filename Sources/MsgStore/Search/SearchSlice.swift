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

/// The place in a store that a search has reached.
///
/// Valid for as long as the store, in any later snapshot of it: a search that continues there
/// misses no message that was there all the time, and finds none twice. Messages that came
/// meanwhile and are newer than the edge need not be found. Takes some 60 bytes for each
/// conversation that was searched.
public struct SearchEdge: Sendable {
  /// The query of the search.
  public let query: SearchQuery
  /// The time down to which all messages have been searched; nil before the first.
  public internal(set) var time: Timestamp?
  /// The conversations that were searched in part.
  var queue = Heap<SearchedConversation>()
  /// All conversations that were searched in part or as a whole.
  var opened: Set<UInt32> = []
  /// The matches that have not been handed out: older than something that is not searched yet.
  var found = Heap<FoundMessage>()
  /// The number of matches found.
  var foundCount = 0
  /// Pending messages that were handed out: the server may give them an older time meanwhile.
  var pending: Set<PendingHit> = []

  /// Creates the edge before all messages, where a search begins.
  public init(_ query: SearchQuery) { self.query = query }
}

struct PendingHit: Hashable, Sendable {
  let conversation: UInt32
  let id: MessageID
}

/// A time in one order over all conversations.
struct SearchTime: Comparable, Sendable {
  let microseconds: Int64
  let conversation: UInt32

  static func < (a: Self, b: Self) -> Bool {
    a.microseconds == b.microseconds
      ? a.conversation < b.conversation : a.microseconds < b.microseconds
  }
}

/// A conversation that is searched down to a position.
struct SearchedConversation: Comparable, Sendable {
  /// No message before the position has a later time.
  let newest: SearchTime
  /// The position before which nothing is searched.
  let position: MessagePosition

  static func whole(_ number: UInt32, newest time: Int64) -> Self {
    Self(newest: SearchTime(microseconds: time, conversation: number), position: .end)
  }

  static func < (a: Self, b: Self) -> Bool { a.newest < b.newest }
  static func == (a: Self, b: Self) -> Bool { a.newest == b.newest }
}

/// A match that has not been handed out.
struct FoundMessage: Comparable, Sendable {
  let time: SearchTime
  let position: MessagePosition
  /// The number of matches found before it, which in a conversation are newer.
  let ordinal: Int

  static func < (a: Self, b: Self) -> Bool {
    a.time == b.time ? a.ordinal > b.ordinal : a.time < b.time
  }
  static func == (a: Self, b: Self) -> Bool { a.time == b.time && a.ordinal == b.ordinal }
}

/// A binary heap with its greatest element first.
struct Heap<Element: Comparable & Sendable>: Sendable {
  private var elements: [Element] = []

  var first: Element? { elements.first }

  /// The greatest element but the first.
  var second: Element? {
    guard elements.count > 2 else { return elements.count > 1 ? elements[1] : nil }
    return max(elements[1], elements[2])
  }

  mutating func push(_ element: Element) {
    elements.append(element)
    var index = elements.count - 1
    while index > 0, case let parent = (index - 1) / 2, elements[parent] < elements[index] {
      elements.swapAt(index, parent)
      index = parent
    }
  }

  mutating func popFirst() -> Element? {
    guard let first = elements.first, let last = elements.popLast() else { return nil }
    if elements.isEmpty { return first }
    elements[0] = last
    var index = 0
    while true {
      var greatest = index
      for child in [2 * index + 1, 2 * index + 2]
      where child < elements.count && elements[greatest] < elements[child] {
        greatest = child
      }
      if greatest == index { return first }
      elements.swapAt(index, greatest)
      index = greatest
    }
  }
}
