import PageFile

extension StoreReading where Self: ~Copyable {
  /// Searches messages, newest first.
  ///
  /// Nothing is indexed: the texts are read, packed as they are. Reading 439,085 messages of chat
  /// takes some 0.1 s; the first hits of a common word take a few milliseconds. Pending messages
  /// are found at their local time. Retracted messages, and conversations that no list shows, are
  /// not found. Archived conversations are.
  ///
  /// - Parameters:
  ///   - query: The terms, and the messages to look in. An unknown conversation or sender has no
  ///     messages.
  ///   - count: The maximum number of hits.
  ///   - maximumSearchedCount: The number of messages after which the slice ends; some thousands
  ///     more may be looked at.
  /// - Returns: The hits. Fewer than `count`, with an edge, if the maximum number of messages was
  ///   looked at, or the snapshot expired meanwhile.
  /// - Throws: `input(.count)` for a count or a maximum below 1; `storage`, `corruptRecord`.
  public func search(
    _ query: SearchQuery, count: Int = 20, maximumSearchedCount: Int = .max
  ) throws(StoreError) -> SearchSlice {
    try search(from: SearchEdge(query), count: count, maximumSearchedCount: maximumSearchedCount)
  }

  /// Continues a search from the edge of its last slice, as `search(_:count:maximumSearchedCount:)`
  /// does.
  ///
  /// - Parameters:
  ///   - edge: The edge, also of a slice of an earlier snapshot.
  ///   - count: The maximum number of hits.
  ///   - maximumSearchedCount: The number of messages after which the slice ends.
  /// - Throws: As `search(_:count:maximumSearchedCount:)`.
  public func search(
    from edge: SearchEdge, count: Int = 20, maximumSearchedCount: Int = .max
  ) throws(StoreError) -> SearchSlice {
    let count = try count.validatedRequest()
    let maximumSearchedCount = try maximumSearchedCount.validatedRequest()
    return try access.search(
      edge, count: count, maximumSearchedCount: maximumSearchedCount, isCancelled: { false })
  }
}

extension StoreAccess {
  /// Returns the next slice of a search.
  ///
  /// The walk leaves its bracket after each step, so that pages are freed meanwhile, and lets other
  /// searches go on if they are made in turns.
  func search(
    _ edge: SearchEdge, count: Int, maximumSearchedCount: Int, isCancelled: () -> Bool
  ) throws(StoreError) -> SearchSlice {
    let turns = searchTurns
    turns?.begin()
    defer { turns?.end() }
    var walk = try read { (view) throws(StoreError) in try SearchWalk(view, edge) }
    var hits: [SearchHit] = []
    do throws(StoreError) {
      while !walk.isDone, !isCancelled() {
        if let hit = try read({ (view) throws(StoreError) in try walk.nextHit(view) }) {
          hits.append(hit)
          if hits.count == count { break }
          continue
        }
        if walk.searchedCount >= maximumSearchedCount { break }
        try read { (view) throws(StoreError) in try walk.advance(view) }
        turns?.giveWay()
      }
    } catch {
      // The matches so far are complete down to the edge.
      guard case .storage(.snapshotExpired) = error, walk.searchedCount > 0 || !hits.isEmpty else {
        throw error
      }
    }
    return SearchSlice(
      hits, edge: walk.isDone ? nil : walk.edge, searchedMessageCount: walk.searchedCount)
  }
}
