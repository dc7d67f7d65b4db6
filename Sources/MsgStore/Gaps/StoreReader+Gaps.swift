import PageFile

/// Reading which sequence numbers are known, and which are missing.
extension ConversationReader {
  func knownSequences(of conversation: UInt32) throws(StoreError) -> KnownSequences {
    var cursor = Cursor(view.source, Schema.conversations)
    let summary = try summary(conversation, &cursor)
    return KnownSequences(view: view, conversation: conversation, newest: summary.sequences)
  }
}

extension KnownSequences {
  /// The next gaps that begin above a number.
  func gaps(count: Int, after number: Int64?) throws(StoreError) -> [ClosedRange<Int64>] {
    guard count >= 1 else { throw .invalidCount(count) }
    var gaps: [ClosedRange<Int64>] = []
    var previous: ClosedRange<Int64>?
    try forEachRun(from: number ?? .min) { run in
      if let gap = previous?.gap(before: run), number.map({ gap.lowerBound > $0 }) ?? true {
        gaps.append(gap)
      }
      previous = run
      return gaps.count < count
    }
    return gaps
  }

  /// The next runs that begin above a number.
  func runs(count: Int, after number: Int64?) throws(StoreError) -> [ClosedRange<Int64>] {
    guard count >= 1 else { throw .invalidCount(count) }
    var runs: [ClosedRange<Int64>] = []
    try forEachRun(from: number ?? .min) { run in
      if number.map({ run.lowerBound > $0 }) ?? true { runs.append(run) }
      return runs.count < count
    }
    return runs
  }
}
