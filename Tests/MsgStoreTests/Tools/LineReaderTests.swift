import MsgStoreTools
import Testing

/// Lines come out the same, however the bytes come in.
struct LineReaderTests {
  private func lines(of bytes: [UInt8], pieceByteCount: Int) throws -> [[UInt8]] {
    var reader = LineReader(source: source(of: bytes, pieceByteCount: pieceByteCount))
    var lines: [[UInt8]] = []
    while let line = try reader.next() { lines.append(Array(reader.buffer[line])) }
    return lines
  }

  @Test(arguments: [1, 2, 3, 7, 1000])
  func linesAreTheSameInPiecesOfAnySize(pieceByteCount: Int) throws {
    let text = "\n\none\r\n\r\ntwo \n three\r\r\n\u{fffd}\nlast"
    let lines = try lines(of: Array(text.utf8), pieceByteCount: pieceByteCount)
    #expect(
      lines.map { String(decoding: $0, as: UTF8.self) }
        == ["one", "two ", " three\r", "\u{fffd}", "last"])
  }

  @Test func emptyLinesAreCounted() throws {
    var reader = LineReader(source: source(of: Array("\n\na\n\nb".utf8)))
    _ = try reader.next()
    #expect(reader.lineNumber == 3)
    _ = try reader.next()
    #expect(reader.lineNumber == 5)
    let end = try reader.next()
    #expect(end == nil)
  }

  @Test func longLinesAreReadWhole() throws {
    let sizes = [1, 300_000, 5, 1_000_000, 262_144, 262_143, 0, 524_288, 2]
    let bytes = sizes.flatMap { [UInt8](repeating: 0x61, count: $0) + [0x0a] }
    let lines = try lines(of: bytes, pieceByteCount: 70_001)
    #expect(lines.map(\.count) == sizes.filter { $0 > 0 })
  }

  @Test func aLineHasALimit() throws {
    let longest = [UInt8](repeating: 0x61, count: 300_000)
    let expected = "line 2: is longer than 300000 bytes"
    func result(_ bytes: [UInt8], skipsTooLong: Bool = false) -> String {
      var reader = LineReader(
        limit: longest.count, skipsTooLong: skipsTooLong,
        source: source(of: bytes, pieceByteCount: .max))
      var found: [String] = []
      do {
        while let line = try reader.next() { found.append("\(line.count)") }
        return found.joined(separator: " ") + ", \(reader.takeTooLongCount()) skipped"
      } catch {
        return "\(error)"
      }
    }
    #expect(result(longest + [0x0a, 0x62]) == "300000 1, 0 skipped")
    for rest in [[], [0x0a], longest + longest + [0x0a, 0x62]] {
      #expect(result([0x0a, 0x61] + longest + rest) == expected)
    }
    #expect(result([0x61] + longest + [0x0a, 0x62], skipsTooLong: true) == "1, 1 skipped")
    #expect(result([0x61] + longest, skipsTooLong: true) == ", 1 skipped")
    #expect(
      result([0x62, 0x0a] + longest + longest + longest + [0x0a, 0x62], skipsTooLong: true)
        == "1 1, 1 skipped")
  }

  @Test func nothingIsNoLine() throws {
    #expect(try lines(of: [], pieceByteCount: 1).isEmpty)
    #expect(try lines(of: Array("\r\n\n".utf8), pieceByteCount: 1).isEmpty)
  }
}
