import PageFile
import Simulation
import Testing

/// What was erased is in none of the files once a checkpoint has returned, wherever it has been: old
/// versions of pages, both logs, overflow chains, neighbours of pages that were split and merged.
struct SecureDeletionTests {
  /// A value whose bytes occur nowhere else.
  private func canary(_ key: Int, _ byteCount: Int) -> [UInt8] {
    let mark = Array("<\(key &* 2_654_435_761)>".utf8)
    return (0..<byteCount).map { mark[$0 % mark.count] }
  }

  private func mark(_ key: Int) -> [UInt8] { Array("<\(key &* 2_654_435_761)>".utf8) }

  /// The keys whose mark is somewhere in the files.
  private func found(_ keys: some Sequence<Int>, in files: MemoryDirectory) -> [Int] {
    found(keys, in: ["x", "x-wal0", "x-wal1"].compactMap { files[$0] })
  }

  private func found(_ keys: some Sequence<Int>, in files: [[UInt8]]) -> [Int] {
    var seen: Set<[UInt8]> = []
    for bytes in files {
      var index = 0
      while let start = bytes.place(of: 0x3C, from: index) {
        let end = bytes[start...].prefix(20).firstIndex(of: 0x3E)
        if let end { seen.insert(Array(bytes[start...end])) }
        index = start + 1
      }
    }
    return keys.filter { seen.contains(mark($0)) }
  }

  private func play(
    _ database: Database, _ random: inout SeededGenerator, erased: inout Set<Int>,
    living: inout Set<Int>, nextKey: inout Int
  ) throws {
    for _ in 0..<random.below(12) {
      let isErasing = random.below(3) == 0
      let count = random.below(isErasing ? 30 : 60)
      var keys: [Int] = []
      for _ in 0..<count {
        if isErasing, let key = living.sorted().randomElement(using: &random) {
          keys.append(key)
          living.remove(key)
          erased.insert(key)
        } else if !isErasing {
          keys.append(nextKey)
          living.insert(nextKey)
          nextKey += 1
        }
      }
      let sizes = keys.map { _ in random.below(12) == 0 ? 3000 : 40 + random.below(200) }
      try database.write(random.below(2) == 0 ? .full : .relaxed) {
        (source) throws(PageFileError) in
        source.isErasing = isErasing
        for (key, size) in zip(keys, sizes) {
          // Scattered, so that pages are split and merged everywhere.
          let place = bigEndian(key &* 40503 & 0xFFFF)
          if isErasing {
            try source.remove(place)
          } else {
            try source.put(place, canary(key, size))
          }
        }
      }
    }
  }

  @Test func erasedValuesAreInNoFileAfterACheckpoint() throws {
    var random = SeededGenerator()
    let files = MemoryDirectory()
    var database = try Database(in: files, name: "x", options: smallPages)
    var erased: Set<Int> = []
    var living: Set<Int> = []
    var nextKey = 1
    for round in 0..<60 where round < 12 || erased.count <= 100 {
      try play(database, &random, erased: &erased, living: &living, nextKey: &nextKey)
      switch random.below(4) {
      case 0:
        try database.close()
        database = try Database(in: files, name: "x", options: smallPages)
      case 1:
        // As a killed process leaves it.
        let copy = files.copy()
        database = try Database(in: copy, name: "x", options: smallPages)
        try database.checkpoint()
        #expect(found(erased, in: copy) == [])
        try database.close()
        for name in ["x", "x-wal0", "x-wal1"] { files[name] = copy[name] }
        database = try Database(in: files, name: "x", options: smallPages)
      default:
        try database.checkpoint()
      }
      let left = found(erased, in: files)
      #expect(left == [])
      let kept = found(living, in: files)
      #expect(kept.count == living.count, "what lives is found, so the search works")
    }
    #expect(erased.count > 100)
    #expect(try database.findings() == [])
  }

  /// As long as somebody may still read the version before, it stays; the checkpoint after that
  /// overwrites it.
  @Test func aReaderKeepsWhatItSeesUntilItEnds() throws {
    let files = MemoryDirectory()
    let database = try Database(in: files, name: "x", options: smallPages)
    try database.write { (source) throws(PageFileError) in try source.put([1], canary(1, 100)) }
    try database.checkpoint()
    func readWhileErasing() throws {
      let reader = try database.beginRead()
      try database.write { (source) throws(PageFileError) in
        source.isErasing = true
        try source.remove([1])
      }
      try database.checkpoint()
      #expect(try contents(of: reader.source).count == 1)
    }
    try readWhileErasing()
    try database.checkpoint()
    #expect(found([1], in: files) == [])
  }

  /// At whatever moment of a closing the process is killed, the next checkpoint finishes the work, and
  /// a store that says it was closed cleanly has nothing left to do.
  @Test func aClosingThatIsCutShortLeavesNothingForGood() throws {
    let files = WatchedCopies()
    let database = try Database(in: files.directory, name: "x", options: smallPages)
    for key in 1...40 {
      try database.write { (source) throws(PageFileError) in
        try source.put(bigEndian(key), canary(key, 500))
      }
      if key % 10 == 0 { try database.checkpoint() }
    }
    try database.write { (source) throws(PageFileError) in
      source.isErasing = true
      try source.remove(bigEndian(7))
    }
    files.begin()
    try database.close()
    #expect(files.copies.count > 8)
    for copy in files.copies {
      let reopened = try Database(in: copy, name: "x", options: smallPages)
      #expect(try reopened.contents().count == 39)
      try reopened.close()
      #expect(found([7], in: copy) == [])
    }
  }

  /// What a power cut keeps is what was synced: the zeros have to be among it.
  @Test func whatACheckpointHasErasedDoesNotComeBackAfterAPowerCut() throws {
    let directory = SimulatedDirectory()
    let database = try Database(in: directory, name: "x", options: smallPages)
    for round in 0..<6 {
      for key in 1...30 {
        try database.write { (source) throws(PageFileError) in
          try source.put(bigEndian(key), canary(key + 100 * round, 300))
        }
      }
      // Otherwise they lie in the log that ends, not in the one before.
      if round % 2 == 0 { try database.checkpoint() }
      try database.write { (source) throws(PageFileError) in
        source.isErasing = true
        for key in 1...30 { try source.remove(bigEndian(key)) }
      }
      try database.checkpoint()
      let disk = directory.disk.afterPowerCut(PowerCut(), .worst)
      let left = found((1...30).map { $0 + 100 * round }, in: try bytes(of: disk))
      #expect(left == [])
    }
  }

  private func bytes(of disk: SimulatedDisk) throws -> [[UInt8]] {
    let directory = SimulatedDirectory(disk)
    return try ["x", "x-wal0", "x-wal1"].map { name in
      let file = try directory.open(name, .read)
      defer { file.close() }
      var buffer = ByteBuffer(capacity: 0)
      buffer.append(zeros: try file.byteCount())
      _ = try file.read(into: buffer.mutableBytes, at: 0)
      return buffer.bytes.array()
    }
  }

  @Test func withoutSecureDeletionNothingIsOverwritten() throws {
    var options = smallPages
    options.secureDelete = false
    let files = MemoryDirectory()
    let database = try Database(in: files, name: "x", options: options)
    try database.write { (source) throws(PageFileError) in try source.put([1], canary(1, 100)) }
    try database.write { (source) throws(PageFileError) in
      source.isErasing = true
      try source.remove([1])
    }
    try database.checkpoint()
    #expect(found([1], in: files) == [1])
  }

  /// A compaction moves pages and cuts the file while a commit has just erased something: what is cut
  /// off could never be overwritten.
  @Test func nothingIsCutOffThatStillHoldsWhatWasErased() throws {
    let staged = StagedDirectory()
    var options = smallPages
    options.backgroundWork = .caller
    let database = try Database(in: staged, name: "x", options: options)
    for part in 0..<20 {
      try database.write { (source) throws(PageFileError) in
        for key in 0..<100 {
          try source.put(bigEndian(part * 100 + key), [UInt8](repeating: 1, count: 900))
        }
      }
    }
    // A page at the end of the file.
    try database.write { (source) throws(PageFileError) in
      try source.put(bigEndian(9000), canary(1, 900))
    }
    try database.checkpoint()
    try database.write { (source) throws(PageFileError) in
      for key in 0..<1990 { try source.remove(bigEndian(key)) }
    }
    var compaction = Compaction()
    while compaction.stage != .moving { _ = try database.compact(&compaction) }
    _ = try database.compact(&compaction)
    // Erased between two steps; nothing has overwritten it yet.
    try database.write(.full) { (source) throws(PageFileError) in
      source.isErasing = true
      try source.remove(bigEndian(9000))
    }
    let cutWith = Locked<[String]>([])
    staged.onCall { call in
      guard call.kind == .truncate, let bytes = staged.files[call.name] else { return }
      let cut = bytes[min(call.offset, bytes.count)...]
      if !found([1], in: [Array(cut)]).isEmpty { cutWith.withLock { $0.append(call.name) } }
    }
    while try database.compact(&compaction) {}
    try database.checkpoint()
    #expect(cutWith.withLock { $0 } == [])
    #expect(found([1], in: staged.files) == [])
    #expect(try database.contents().count == 10)
    #expect(try database.findings() == [])
    let slotCount = try #require(staged.files["x"].map { ($0.count - 32768) / 4096 })
    #expect(slotCount < 120, "the file was made short all the same")
  }
}

/// Copies of all files before each change, from some moment on.
private final class WatchedCopies: Sendable {
  private let kept = Locked<(copies: [MemoryDirectory], isOn: Bool)>(([], false))
  let directory: WatchedDirectory

  init() {
    let kept = kept
    directory = WatchedDirectory { files in
      kept.withLock { kept in
        if kept.isOn { kept.copies.append(files.copy()) }
      }
    }
  }

  func begin() { kept.withLock { $0.isOn = true } }
  var copies: [MemoryDirectory] { kept.withLock { $0.copies } }
}
