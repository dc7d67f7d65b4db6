import PageFile
import Testing

/// Files in memory answer as files on a disk do.
struct MemoryDirectoryTests {
  private let directory = MemoryDirectory()

  private func read(_ file: any StorageFile, at offset: Int, _ count: Int) throws -> [UInt8] {
    var buffer = ByteBuffer()
    buffer.append(zeros: count)
    let read = try file.read(into: buffer.mutableBytes, at: offset)
    return buffer.bytes.slice(0, read).array()
  }

  @Test func readingAtAndBehindTheEndGivesWhatIsThere() throws {
    directory["x"] = [1, 2, 3]
    let file = try directory.open("x", .read)
    #expect(try read(file, at: 0, 3) == [1, 2, 3])
    #expect(try read(file, at: 2, 8) == [3])
    #expect(try read(file, at: 3, 8) == [])
    #expect(try read(file, at: 1000, 8) == [])
  }

  @Test func writingBehindTheEndFillsWithZeros() throws {
    let file = try directory.open("x", .create)
    try Bytes.with([7, 8]) { (bytes) throws(PageFileError) in try file.write(bytes, at: 3) }
    #expect(directory["x"] == [0, 0, 0, 7, 8])
    try file.extend(to: 7)
    try file.extend(to: 2)
    #expect(directory["x"] == [0, 0, 0, 7, 8, 0, 0])
    try file.truncate(to: 4)
    #expect(try directory["x"] == [0, 0, 0, 7] && file.byteCount() == 4)
  }

  @Test func copyDoesNotFollowTheOriginal() throws {
    directory["x"] = [1]
    let copy = directory.copy()
    let file = try directory.open("x", .readWrite)
    #expect(try file.tryLock())
    try Bytes.with([2]) { (bytes) throws(PageFileError) in try file.write(bytes, at: 0) }
    #expect(directory["x"] == [2] && copy["x"] == [1])
    #expect(try copy.open("x", .readWrite).tryLock())
    #expect(try !directory.open("x", .readWrite).tryLock())
  }

  @Test func namesAreCreatedRenamedAndRemoved() throws {
    _ = try directory.open("x", .create)
    #expect(throws: PageFileError.ioError(call: "open", errno: 17, path: "memory:x")) {
      _ = try directory.open("x", .create)
    }
    try directory.rename("x", to: "y")
    #expect(directory.exists("y") && !directory.exists("x"))
    try directory.remove("y")
    #expect(throws: PageFileError.ioError(call: "unlink", errno: 2, path: "memory:y")) {
      try directory.remove("y")
    }
    #expect(throws: PageFileError.ioError(call: "open", errno: 2, path: "memory:y")) {
      _ = try directory.open("y", .readWrite)
    }
  }
}
