/// The place in a store that a search has reached.
///
/// Valid for as long as the store, in any later snapshot of it: a search that continues there
/// misses no message that stayed in its place, and finds none of these twice. Messages that came
/// meanwhile, or moved because the server gave them another time, need not be found. Takes some 60
/// bytes for each conversation that was searched.
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
