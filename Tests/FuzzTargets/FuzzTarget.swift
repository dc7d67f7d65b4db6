/// What the fuzzers run: each target interprets bytes, drives a part of the store with them, and
/// throws when a promise is broken.
///
/// The same bytes always do the same. A trap, a hang and too much memory are noticed by whoever runs
/// the target: the fuzzers in `Fuzz/`, and a test that replays their corpus.
package enum FuzzTarget: String, CaseIterable, Sendable {
  /// Data file and WAL files, damaged together, with checksums made right again.
  case storeFiles = "store-files"
  /// Reads, writes, faults and crashes, against a model.
  case operations
  /// Lines of JSON, and a restore from them.
  case jsonLines = "json-lines"
  /// Records and keys of messages and conversations, texts, and stores that hold any of them.
  case messageRecords = "message-records"
  /// Segments and dictionaries, alone and in stores that hold any of them.
  case segments
  /// Blocks of LZ4 and texts, for the package's own codec beside liblz4.
  case blocks = "lz4-blocks"
  /// Texts and queries, beside a slow search.
  case search

  /// Runs the target once.
  ///
  /// - Parameter tell: Is told step by step what the bytes mean, for whoever looks into a failure.
  package func run(
    _ input: [UInt8], tell: ((String) -> Void)? = nil
  ) throws(BrokenPromise) {
    var input = FuzzInput(input, tell: tell)
    switch self {
    case .storeFiles: try StoreFilesTarget.run(&input)
    case .operations: try OperationsTarget.run(&input)
    case .jsonLines: try JSONLinesTarget.run(&input)
    case .messageRecords: try MessageRecordsTarget.run(&input)
    case .segments: try SegmentsTarget.run(&input)
    case .blocks: try BlocksTarget.run(&input)
    case .search: try SearchTarget.run(&input)
    }
  }
}

/// Something that must not happen whatever the bytes are.
package struct BrokenPromise: Error, CustomStringConvertible {
  /// What happened, as a sentence.
  package let description: String

  init(_ description: String) { self.description = description }
}

/// Throws unless a promise holds.
func promise(
  _ holds: Bool, _ sentence: @autoclosure () -> String
) throws(BrokenPromise) {
  if !holds { throw BrokenPromise(sentence()) }
}
