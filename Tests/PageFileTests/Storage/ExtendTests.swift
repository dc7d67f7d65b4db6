import Foundation
import Testing

@testable import PageFile

/// A file made longer holds zeros, in blocks of its own.
struct ExtendTests {
  @Test(arguments: [true, false])
  func aLongerFileKeepsItsBytesAndEndsWithZeros(withZeros: Bool) throws {
    let path = FileManager.default.temporaryDirectory.path + "/extend-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: path) }
    let directory = PosixDirectory(path: path)
    let file = try directory.open("file", .create)
    defer { file.close() }
    try Bytes.with([1, 2, 3]) { bytes throws(PageFileError) in try file.write(bytes, at: 0) }
    let byteCount = 600_000
    if withZeros {
      // The way of a file system that allocates no blocks without a write.
      try #require(file as? PosixFile).extendWithZeros(from: 3, to: byteCount)
    } else {
      try file.extend(to: byteCount)
    }
    #expect(try file.byteCount() == byteCount)
    var buffer = ByteBuffer(capacity: byteCount)
    buffer.append(zeros: byteCount)
    _ = try file.read(into: buffer.mutableBytes, at: 0)
    let bytes = buffer.bytes.array()
    #expect(bytes[..<3] == [1, 2, 3] && bytes[3...].allSatisfy { $0 == 0 })
  }
}
