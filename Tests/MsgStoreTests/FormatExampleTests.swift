import Foundation
import MsgStore
import PageFile
import Testing
import msgdump

/// The worked example of docs/message-format.md is what the code writes: its lines are restored, and
/// the document has the key and the value of every cell.
@Suite struct FormatExampleTests {
  @Test func theDocumentHasEveryCellOfItsExample() throws {
    let blocks = try blocks()
    let lines = try #require(blocks.first)
    let directory = MemoryDirectory()
    let restorer = Restorer(isLenient: false, numbersFromOrder: false, localMember: nil)
    let reader = JSONRecordReader(isLenient: false, source: source(of: Array(lines.utf8)))
    try restorer.restore(reader) { options throws(StoreError) in
      var options = options
      options.packs = false
      return try MessageStore(in: directory, name: "example", options: options)
    }
    let documented = blocks.dropFirst().map(Self.bytes)
    let cells = try cells(of: directory)
    #expect(cells.count > 20)
    for cell in cells {
      let isThere = documented.contains { bytes in
        bytes.indices.contains { start in
          guard bytes[start...].starts(with: cell.key) else { return false }
          let rest = bytes[(start + cell.key.count)...]
          // Between a key and its value a page has a byte count.
          return rest.starts(with: cell.value) || rest.dropFirst().starts(with: cell.value)
        }
      }
      #expect(isThere, "tree \(cell.tree), key \(cell.key), value \(cell.value)")
    }
  }

  /// The blocks of section 9: the lines of JSON, and then bytes.
  private func blocks() throws -> [String] {
    let document = try String(
      contentsOf: URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("docs/message-format.md"), encoding: .utf8)
    let begin = try #require(document.range(of: "\n## 9. ")).upperBound
    let end = try #require(document.range(of: "\n## 10. ")).lowerBound
    let parts = document[begin..<end].components(separatedBy: "```")
    return parts.indices.filter { $0 % 2 == 1 }
      .map { parts[$0].hasPrefix("json\n") ? String(parts[$0].dropFirst(5)) : parts[$0] }
  }

  /// The bytes that a block shows, without offsets, numbers of trees, and what is said of them.
  private static func bytes(of block: String) -> [UInt8] {
    let isTable = block.hasPrefix("\ntree")
    var bytes: [UInt8] = []
    for line in block.split(separator: "\n") {
      // Columns are two blanks apart; the first one names the line, or is empty.
      let columns = line.components(separatedBy: "  ").filter { !$0.isEmpty }
      let isNamed = !line.hasPrefix("       ")
      for column in isTable && !isNamed ? [] : columns.dropFirst(isNamed ? 1 : 0) {
        // Elsewhere what is in quotes says what the bytes mean.
        guard isTable || !column.contains("\""), let shown = Self.bytes(ofColumn: column)
        else { break }
        bytes += shown
        if !isTable { break }
      }
    }
    return bytes
  }

  /// Pairs of digits, and names in quotes; nil when it is something else.
  private static func bytes(ofColumn column: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    for (index, part) in column.components(separatedBy: "\"").enumerated() {
      if index % 2 == 1 {
        bytes += Array(part.utf8)
        continue
      }
      for digits in part.split(separator: " ") {
        guard digits.utf8.count == 2, let byte = UInt8(digits, radix: 16) else { return nil }
        bytes.append(byte)
      }
    }
    return bytes
  }

  private func cells(
    of directory: MemoryDirectory
  ) throws -> [(tree: Int, key: [UInt8], value: [UInt8])] {
    let database = try Database(in: directory, name: "example")
    let source = try database.beginRead().source
    try source.enter()
    defer { source.leave() }
    var cells: [(tree: Int, key: [UInt8], value: [UInt8])] = []
    for tree in 0..<16 {
      var cursor = Cursor(source, TreeNumber(tree))
      var isThere = try cursor.first()
      while isThere {
        var key = ByteBuffer()
        var value = ByteBuffer()
        cursor.appendKey(to: &key)
        try cursor.appendValue(to: &value)
        cells.append((tree, key.bytes.array(), value.bytes.array()))
        isThere = try cursor.next()
      }
    }
    return cells
  }
}
