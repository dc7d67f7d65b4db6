import Foundation
import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// The worked examples of docs/message-format.md are what the code writes: their lines are restored,
/// and the document has the key and the value of every cell of the first, and the segment of the
/// second.
struct FormatExampleTests {
  @Test func theDocumentHasEveryCellOfItsExample() throws {
    let blocks = try blocks(from: "\n## A worked example", to: "\n### A segment")
    let documented = blocks.dropFirst().map(Self.bytes)
    let cells = try cells(ofRestored: try #require(blocks.first), packs: false)
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

  @Test func theDocumentHasTheSegmentOfItsExample() throws {
    let blocks = try blocks(from: "\n### A segment", to: "\n## 1. ")
    try #require(blocks.count == 3)
    let cells = try cells(ofRestored: blocks[0], packs: true).filter { $0.tree == 6 }
    try #require(cells.count == 1)
    // The last block shows what the end of the value stands for.
    #expect(Self.bytes(of: blocks[1]) == cells[0].key + cells[0].value)
    var segment = UnpackedSegment()
    let isUnpacked = Bytes.with(cells[0].key) { key in
      Bytes.with(cells[0].value) { segment.unpack($0, at: key.dropFirst(4), with: .none) }
    }
    try #require(isUnpacked)
    var run = MessageRun()
    segment.append(to: &run, in: 1)
    var (texts, rest): ([UInt8], [UInt8]) = ([], [])
    for index in 0..<run.count {
      let record = try #require(MessageRecord(run.record(index)))
      texts += record.payload.array()
      rest += record.replyBytes.array() + record.traitsBytes.array()
    }
    #expect(Self.bytes(of: blocks[2]) == texts + rest)
  }

  /// The blocks between two headings: the lines of JSON, and then bytes.
  private func blocks(from heading: String, to next: String) throws -> [String] {
    let document = try String(
      contentsOf: URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("docs/message-format.md"), encoding: .utf8)
    let begin = try #require(document.range(of: heading)).upperBound
    let end = try #require(document.range(of: next)).lowerBound
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
    ofRestored lines: String, packs: Bool
  ) throws -> [(tree: Int, key: [UInt8], value: [UInt8])] {
    let directory = MemoryDirectory()
    let restorer = Restorer(isLenient: false, numbersFromOrder: false, localMember: nil)
    let reader = JSONRecordReader(isLenient: false, source: source(of: Array(lines.utf8)))
    try restorer.restore(reader) { options throws(StoreError) in
      var options = options
      options.packs = packs
      return try MessageStore(in: directory, name: "example", options: options)
    }
    let database = try Database(in: directory, name: "example")
    let source = try database.beginRead().source
    try source.enter()
    defer { source.leave() }
    var cells: [(tree: Int, key: [UInt8], value: [UInt8])] = []
    for tree in 0..<Roots.maximumCount {
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
