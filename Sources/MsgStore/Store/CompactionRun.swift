import PageFile

/// A compaction in progress: its steps, in order.
///
///  1. All pages are read before anything changes.
///  2. A step makes at most one commit and holds no resources once it has ended. Stopping between
///     two steps leaves nothing half done, and a new run finds the completed work done.
struct CompactionRun: Sendable {
  private var pages = Compaction()
  private var stage = Stage.readingPages
  private let byteCountBefore: Int
  /// The number of the conversation that would come next, once messages are being packed.
  private var conversationNumberEnd: UInt64 = 1

  private enum Stage: Sendable {
    case readingPages, finishingWork, makingDictionary
    case packingMessages(from: [UInt8])
    case forgettingDictionaries(OldDictionaries)
    case packingPages
  }

  init(_ database: Database) throws(StoreError) {
    byteCountBefore = try storage { () throws(PageFileError) in
      try database.dataFileByteCount()
    }
  }

  /// Performs the next step; returns false once no work is left.
  mutating func step(_ store: StoreCore) throws -> Bool {
    switch stage {
    case .readingPages:
      try stepPages(store.database)
      if pages.stage != .reading { stage = .finishingWork }
    case .finishingWork:
      if try store.stepWork() { stage = .makingDictionary }
    case .makingDictionary:
      // All messages are packed anew, so a small gain pays off.
      _ = try store.makeDictionary(minimumGain: 1)
      conversationNumberEnd = try store.read { snapshot in
        try snapshot.within { (view) throws(StoreError) in
          max(1, view.source[.nextConversation])
        }
      }
      stage = .packingMessages(from: [])
    case .packingMessages(let key):
      let next = try store.write(.relaxed) { writer in
        try writer.transaction.perform(try writer.transaction.packer.repack(from: key))
      }
      stage = next.map { .packingMessages(from: $0) } ?? .forgettingDictionaries(OldDictionaries())
    case .forgettingDictionaries(var old):
      stage = try store.step(&old) ? .forgettingDictionaries(old) : .packingPages
    case .packingPages:
      try stepPages(store.database)
    }
    return pages.stage != .done
  }

  private mutating func stepPages(_ database: Database) throws(StoreError) {
    var pages = pages
    defer { self.pages = pages }
    _ = try storage { () throws(PageFileError) in try database.compact(&pages) }
  }

  /// Returns the current phase and the sizes of the data file.
  func progress(_ database: Database) throws(StoreError) -> CompactionProgress {
    let byteCount = try storage { () throws(PageFileError) in try database.dataFileByteCount() }
    let stage: CompactionProgress.Stage =
      switch pages.stage {
      case .reading: .reading
      case .packing: .packing
      case .moving: .moving
      case .done: .done
      }
    return CompactionProgress(
      stage: stage, byteCountBefore: byteCountBefore, byteCount: byteCount,
      partDone: partDone(byteCount, database.pageByteCount))
  }

  private func partDone(_ byteCount: Int, _ pageByteCount: Int) -> Double? {
    switch stage {
    case .readingPages:
      min(1, Double(pages.readPageCount) * Double(pageByteCount) / Double(max(1, byteCount)))
    case .packingMessages(let key):
      // Keys begin with the number of their conversation, and none is given twice.
      Bytes.with(key) { $0.bigEndianNumber(at: 0) }.map {
        min(1, Double($0) / Double(max(1, conversationNumberEnd)))
      } ?? 0
    case .finishingWork, .makingDictionary, .forgettingDictionaries, .packingPages: nil
    }
  }
}

extension StoreCore {
  /// Performs one part of the pending work in one commit; returns true once no work is left.
  fileprivate func stepWork() throws -> Bool {
    try write(.relaxed) { writer in
      try writer.transaction.perform(try writer.transaction.steps.step())
      return try !writer.transaction.perform(try writer.transaction.steps.hasWork)
    }
  }
}
