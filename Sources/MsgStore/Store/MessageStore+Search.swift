import Synchronization

/// The matches of a query, slice by slice, newest first.
///
/// Each slice is read from a snapshot of its own, so that a search may take as long as its reader
/// likes. The sequence ends with the slice that has no edge.
public struct SearchResults: AsyncSequence, Sendable {
  /// A part of the matches.
  public typealias Element = SearchSlice

  private let store: MessageStore
  private let edge: SearchEdge
  private let count: Int

  init(_ store: MessageStore, _ edge: SearchEdge, count: Int) {
    self.store = store
    self.edge = edge
    self.count = count
  }

  /// Begins the search.
  public func makeAsyncIterator() -> Iterator { Iterator(store, edge, count) }

  /// An iterator over the slices.
  public struct Iterator: AsyncIteratorProtocol {
    private let store: MessageStore
    private var edge: SearchEdge?
    private let count: Int

    init(_ store: MessageStore, _ edge: SearchEdge, _ count: Int) {
      self.store = store
      self.edge = edge
      self.count = count
    }

    /// The number of messages after which a slice ends, whether it has hits or not.
    private static let maximumSearchedCount = 100_000

    /// Returns the next slice; nil after the one without an edge.
    ///
    /// A slice has fewer hits than asked for, or none, after 100,000 messages without enough of
    /// them.
    ///
    /// - Throws: `CancellationError` if the task is cancelled, within the search of a few thousand
    ///   messages; `storage`, `corruptRecord`.
    public mutating func next() async throws -> SearchSlice? {
      guard let edge else { return nil }
      let flag = CancellationFlag()
      let count = count
      let slice = try await withTaskCancellationHandler {
        try await store.read { snapshot in
          try snapshot.access.search(
            edge, count: count, maximumSearchedCount: Self.maximumSearchedCount,
            isCancelled: { flag.isSet })
        }
      } onCancel: {
        flag.set()
      }
      if flag.isSet { throw CancellationError() }
      self.edge = slice.edge
      return slice
    }
  }
}

/// A flag that a task sets for the thread that works for it.
private final class CancellationFlag: Sendable {
  private let flag = Atomic(false)
  var isSet: Bool { flag.load(ordering: .relaxed) }
  func set() { flag.store(true, ordering: .relaxed) }
}

extension MessageStore {
  /// Searches messages without blocking the caller's thread, newest first.
  ///
  ///     for try await slice in try store.search(SearchQuery("tickets")) {
  ///       show(slice)
  ///     }
  ///
  /// See `StoreReading.search(_:count:maximumSearchedCount:)`.
  ///
  /// - Parameters:
  ///   - query: The terms, and the messages to look in.
  ///   - count: The maximum number of hits in a slice.
  /// - Throws: `input(.count)` for a count below 1.
  public func search(_ query: SearchQuery, count: Int = 20) throws(StoreError) -> SearchResults {
    let count = try count.validatedRequest()
    return SearchResults(self, SearchEdge(query), count: count)
  }
}
