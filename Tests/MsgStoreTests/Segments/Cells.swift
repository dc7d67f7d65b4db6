import MsgStore
import MsgStoreTools
import PageFile

/// The cells of a closed or idle store as they are, and changes of them that no store would make.
struct Cells {
  struct Cell {
    let key: [UInt8]
    let value: [UInt8]
  }

  static let settingsTree = Schema.settings.rawValue
  static let messagesTree = Schema.messages.rawValue
  static let idsTree = Schema.ids.rawValue
  static let besideTree = Schema.beside.rawValue
  static let workTree = Schema.work.rawValue
  static let indexTree = Schema.index.rawValue

  private let directory: MemoryDirectory

  /// The files are copied: their owner may go on.
  init(_ directory: MemoryDirectory) { self.directory = directory.copy() }

  /// All cells of a tree.
  func all(_ tree: Int) throws -> [Cell] {
    var options = DatabaseOptions()
    options.access = .readOnly
    let database = try Database(in: directory, name: "store", options: options)
    defer { try? database.close() }
    let source = try database.beginRead().source
    try source.enter()
    defer { source.leave() }
    var cells: [Cell] = []
    var cursor = Cursor(source, TreeNumber(tree))
    var isAtCell = try cursor.first()
    while isAtCell {
      var key = ByteBuffer()
      var value = ByteBuffer()
      cursor.appendKey(to: &key)
      try cursor.appendValue(to: &value)
      cells.append(Cell(key: key.bytes.array(), value: value.bytes.array()))
      isAtCell = try cursor.next()
    }
    return cells
  }

  /// The cells of the index of one kind.
  func index(_ kind: IndexKind) throws -> [Cell] {
    try all(Self.indexTree).filter { Bytes.with($0.key) { $0.indexKind == kind } }
  }

  var segments: [Cell] {
    get throws {
      try all(Self.messagesTree).filter {
        Bytes.with($0.value) { SegmentReport.messageCount($0) } != nil
      }
    }
  }

  /// The segments that say that messages lie beside them.
  var marked: [Cell] {
    get throws { try segments.filter { $0.value[0] & 1 != 0 } }
  }

  /// The numbers of the dictionaries that segments were packed with, and how many were.
  var usedDictionaries: [UInt32: Int] {
    get throws {
      var counts: [UInt32: Int] = [:]
      for segment in try segments {
        counts[Bytes.with(segment.value) { SegmentReport.dictionary($0) } ?? 0, default: 0] += 1
      }
      return counts
    }
  }

  /// The keys of dictionaries' heads and pieces.
  var dictionaryKeys: [[UInt8]] {
    get throws { try all(Self.settingsTree).map(\.key).filter { $0.first == 0xFF } }
  }

  /// The files with some cells changed, under checksums that hold; nil removes one.
  func changed(
    _ changes: [(key: [UInt8], value: [UInt8]?)], in tree: Int
  ) throws -> MemoryDirectory {
    let copy = directory.copy()
    let database = try Database(in: copy, name: "store")
    let transaction = try database.beginWrite()
    let source = transaction.source
    try source.enter()
    for (key, value) in changes {
      try Bytes.with(key) { key in
        if let value {
          _ = try Bytes.with(value) { try BTree(source, TreeNumber(tree)).insert(key, $0) }
        } else {
          _ = try BTree(source, TreeNumber(tree)).remove(key)
        }
      }
    }
    source.leave()
    _ = try transaction.commit(.full)
    try database.close()
    return copy
  }

  /// The value of a word.
  func word(_ word: StoreWord) throws -> UInt64 {
    var options = DatabaseOptions()
    options.access = .readOnly
    let database = try Database(in: directory, name: "store", options: options)
    defer { try? database.close() }
    return try database.beginRead().source[word]
  }

  /// The files with some words changed.
  func changed(_ words: [StoreWord: UInt64]) throws -> MemoryDirectory {
    let copy = directory.copy()
    let database = try Database(in: copy, name: "store")
    let transaction = try database.beginWrite()
    for (word, value) in words { transaction.source[word] = value }
    _ = try transaction.commit(.full)
    try database.close()
    return copy
  }
}
