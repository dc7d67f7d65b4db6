import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// A store with enough of what people say often to get a dictionary.
struct WordyStore {
  static let messageCount = 2400
  /// Letters that are nowhere else.
  static let canary = "Kq7Zx9Jw3Yv5Xj8Qz2"

  let files = MemoryDirectory()
  let store: MessageStore

  static func id(_ index: Int) -> MessageID { MessageID("m-\(10_000 + index)") }

  /// What people say often, of words of which each has some letters of its own.
  private static let phrases: [String] = {
    var random = SeededGenerator(seed: 5)
    func word() -> String {
      let syllables = ["ka", "to", "mi", "ren", "sul", "ba", "dor", "ei", "fa", "lun", "pe", "sch"]
      return (0..<Int.random(in: 1...4, using: &random))
        .map { _ in syllables.randomElement(using: &random) ?? "" }.joined()
    }
    return (0..<400).map { _ in
      (0..<5).map { _ in word() }.joined(separator: " ") + ". "
    }
  }()

  /// - Parameter secret: What message 700 says besides.
  init(seed: UInt64, secret: String = "", compacts: Bool = true) throws {
    var random = SeededGenerator(seed: seed)
    store = try memoryStore(files)
    for start in stride(from: 0, to: Self.messageCount, by: 300) {
      try store.write(.relaxed) { chat in
        for index in start..<start + 300 {
          var text = "\(index) "
          for _ in 0..<4 { text += Self.phrases.randomElement(using: &random) ?? "" }
          if index == 700 { text += secret }
          let room: ConversationID = index % 3 == 0 ? "other" : "room"
          try chat.insert(
            Message(
              id: Self.id(index), in: room, from: MemberID("member-\(index % 5)"), text: text,
              serverTimestamp: time(Int64(index) * 3_000_000_000), sequence: Int64(index)))
        }
      }
    }
    if compacts { try store.compact() }
    try store.checkpoint()
  }

  /// What somebody reads.
  static func texts(_ store: MessageStore) throws -> [String] {
    try store.read { chat in
      try ["room", "other"].flatMap { id in
        try chat.thread(id).allMessages().map { "\($0.id): \($0.text)" }
      }
    }
  }

  /// Whether the bytes are in a file as they are, in a text in a segment, or in a dictionary.
  static func isAnywhere(_ text: String, in files: MemoryDirectory) throws -> Bool {
    let needle = Array(text.utf8)
    for name in ["store", "store-wal0", "store-wal1"] where contains(files[name] ?? [], needle) {
      return true
    }
    let cells = Cells(files)
    let (dictionary, number) = try cells.newestDictionary()
    if contains(dictionary, needle) { return true }
    let known = Bytes.with(dictionary) { CompressionDictionary($0, version: number) }
    for cell in try cells.segments {
      var segment = UnpackedSegment()
      var run = MessageRun()
      let used = Bytes.with(cell.value) { SegmentReport.dictionary($0) } ?? 0
      let isUnpacked = Bytes.with(cell.value) { value in
        Bytes.with(cell.key) { key in
          segment.unpack(
            value, at: key.dropFirst(4), with: used == 0 ? .none : known ?? .none)
        }
      }
      #expect(isUnpacked)
      segment.append(to: &run, in: 1)
      for index in 0..<run.count where contains(run.record(index).array(), needle) { return true }
    }
    return false
  }

  private static func contains(_ bytes: [UInt8], _ needle: [UInt8]) -> Bool {
    guard let first = needle.first else { return true }
    var rest = bytes[...]
    while let start = rest.firstIndex(of: first) {
      rest = rest[start...]
      if rest.starts(with: needle) { return true }
      rest = rest.dropFirst()
    }
    return false
  }
}

extension Cells {
  /// The bytes of the newest dictionary, and its number; nothing and 0 where there is none.
  func newestDictionary() throws -> (bytes: [UInt8], number: UInt32) {
    let cells = try all(Self.settingsTree).filter { $0.key.first == 0xFF }
    guard let last = cells.last else { return ([], 0) }
    let number = last.key[1..<5].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    let pieces = cells.filter {
      $0.key.count == 8 && $0.key[1..<5] == last.key[1..<5] && $0.key[5] == 0
    }
    return (pieces.flatMap { $0.value.dropFirst(12) }, number)
  }
}
