import PageFile
import Simulation
import Testing

/// Any one byte of the files changed: an answer is right or an error, never wrong, never a trap.
struct FlippedByteTests {
  private let seed = SeededGenerator.freshSeed()

  @Test func flippedBytesOfAClosedStoreAreReportedOrDoNotMatter() throws {
    print("flippedBytesOfAClosedStoreAreReportedOrDoNotMatter seed \(seed)")
    let (directory, expected) = try smallStore(closed: true)
    try flipBytes(of: "small", in: directory, expected: [expected], count: 700)
  }

  /// A flip in the log may also cut off what no witness proves to have been durable: then an earlier
  /// state is seen, but never a mix.
  @Test func flippedBytesOfTheLogLeaveACommitOrAnError() throws {
    print("flippedBytesOfTheLogLeaveACommitOrAnError seed \(seed)")
    let (directory, states) = try storeWithLog()
    try flipBytes(of: try logName(directory), in: directory, expected: states, count: 500)
  }

  @Test func everyFlippedCommitThatWasDurableIsReported() throws {
    let (directory, states) = try storeWithLog()
    let name = try logName(directory)
    let bytes = try #require(directory[name])
    // Every commit was durable and the watermark behind them says so.
    var offset = WALHeader.commitsOffset
    while offset < bytes.count, bytes[offset] == 0x43 {
      let copy = directory.copy()
      var damaged = bytes
      damaged[offset + 200] ^= 1
      copy[name] = damaged
      #expect(throws: PageFileError.self) { try Database(in: copy, name: "small") }
      let isUntouched = copy[name] == damaged
      #expect(isUntouched)
      let framesByteCount = Bytes.with(Array(bytes[offset..<offset + 512])) { $0.uint32(at: 40) }
      offset += WALCommitHeader.paddedByteCount(framesByteCount: Int(framesByteCount))
    }
    #expect(offset > WALHeader.commitsOffset + 512)
    let isWhole = try Database(in: directory.copy(), name: "small").contents() == states.last
    #expect(isWhole)
  }

  /// The WAL file that the commits are in: the one of the later generation.
  private func logName(_ directory: MemoryDirectory) throws -> String {
    func counter(_ name: String) -> UInt64 {
      let header = directory[name].flatMap { bytes in
        Bytes.with(Array(bytes[..<WALHeader.byteCount])) { WALHeader($0) }
      }
      return header?.generation.counter ?? 0
    }
    return counter("small-wal0") > counter("small-wal1") ? "small-wal0" : "small-wal1"
  }

  private func flipBytes(
    of name: String, in directory: MemoryDirectory, expected: [[[UInt8]: [UInt8]]], count: Int
  ) throws {
    var random = SeededGenerator(seed: seed)
    let bytes = try #require(directory[name])
    var reportedCount = 0
    for _ in 0..<count {
      let offset = Int.random(in: 0..<bytes.count, using: &random)
      var damaged = bytes
      damaged[offset] ^= UInt8.random(in: 1...255, using: &random)
      let copy = directory.copy()
      copy[name] = damaged
      do throws(PageFileError) {
        let database = try Database(in: copy, name: "small")
        let seen = try database.contents()
        let isExpected = expected.contains { $0.hasSameBytes(as: seen) }
        #expect(isExpected, "byte \(offset) of \(name)")
      } catch {
        reportedCount += 1
      }
    }
    print("\(name): \(reportedCount) of \(count) flips reported")
    #expect(reportedCount > 0)
  }

  private func smallStore(closed: Bool) throws -> (MemoryDirectory, [[UInt8]: [UInt8]]) {
    let directory = MemoryDirectory()
    var options = DatabaseOptions()
    options.pageByteCount = 4096
    let database = try Database(in: directory, name: "small", options: options)
    var random = SeededGenerator(seed: seed)
    try database.write(.full) { (source) throws(PageFileError) in
      for number in 0..<600 {
        let count = number % 50 == 0 ? 5000 : Int.random(in: 1...120, using: &random)
        try source.put(
          [UInt8(number >> 8), UInt8(number & 255)],
          [UInt8](repeating: UInt8(number % 255) + 1, count: count))
      }
    }
    let contents = try database.contents()
    try database.checkpoint()
    if closed { try database.close() }
    return (directory, contents)
  }

  /// A store with ten durable commits in its first WAL file, as a killed process leaves it, and the
  /// states after each.
  private func storeWithLog() throws -> (MemoryDirectory, [[[UInt8]: [UInt8]]]) {
    let (directory, contents) = try smallStore(closed: true)
    let database = try Database(in: directory, name: "small")
    var states = [contents]
    for number in 0..<10 {
      try database.write(.full) { (source) throws(PageFileError) in
        try source.put([0xF0, UInt8(number)], [UInt8](repeating: 7, count: 300))
        try source.remove([0, UInt8(number)])
      }
      states.append(try database.contents())
    }
    return (directory.copy(), states)
  }
}
