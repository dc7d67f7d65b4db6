import MsgStore
import PageFile
import Testing

extension MemoryDirectory {
  /// Puts a dictionary into the store of this name, written as D-1 of docs/message-format.md says,
  /// without the code that makes dictionaries.
  func plantDictionary(_ bytes: [UInt8], number: UInt32, in name: String) throws {
    try plant(in: name) { source in
      for copy in [0, 1] as [UInt8] {
        for (index, start) in stride(from: 0, to: bytes.count, by: 500).enumerated() {
          var key = ByteBuffer()
          key.append(0xFF)
          key.append(bigEndian: number)
          key.append(copy)
          key.append(UInt8(index / 256))
          key.append(UInt8(index % 256))
          var value = ByteBuffer()
          value.append(littleEndian: UInt32(bytes.count))
          let checksum = Bytes.with(bytes) { Checksum.of($0, seed: Checksum.seed(UInt64(number))) }
          value.append(littleEndian: checksum)
          for byte in bytes[start..<min(start + 500, bytes.count)] { value.append(byte) }
          _ = try BTree(source, TreeNumber(0)).insert(key.bytes, value.bytes)
        }
      }
    }
  }
}

/// Dictionaries that the store has not made itself.
struct PlantedDictionaryTests {
  private func store(in files: MemoryDirectory) throws -> MessageStore {
    let store = try memoryStore(files)
    try store.write { chat in
      for index in 0..<200 as Range<Int64> {
        try chat.insert(
          message(MessageID("m-\(index)"), at: index * 1000, text: "Nachricht \(index)"))
      }
    }
    return store
  }

  private func tail(_ store: MessageStore) throws -> [String] {
    try store.read { snapshot in try snapshot.thread("room").tail(500).map(\.text) }
  }

  /// Any bytes are a dictionary, and compacting packs everything with the newest.
  @Test func anyBytesAreADictionary() throws {
    let files = MemoryDirectory()
    var store = try store(in: files)
    let texts = try tail(store)
    let dictionaries = [Array("Nachricht 1".utf8), (0..<1300).map { UInt8($0 % 256) }]
    for (bytes, number) in zip(dictionaries, [1, 7] as [UInt32]) {
      try store.close()
      try files.plantDictionary(bytes, number: number, in: "store")
      store = try memoryStore(files)
      try store.compact()
      try store.expectSound()
      #expect(try tail(store) == texts)
    }
    try store.close()
  }

  /// A number that no segment could name was a trap when the next one was asked for.
  @Test func aNumberThatNoSegmentCanNameIsRefused() throws {
    let files = MemoryDirectory()
    let first = try store(in: files)
    let texts = try tail(first)
    try first.close()
    try files.plantDictionary([1, 2, 3], number: .max - 1, in: "store")
    let last = try memoryStore(files)
    try last.compact()
    #expect(try tail(last) == texts)
    try last.close()
    try files.plantDictionary([1, 2, 3], number: .max, in: "store")
    let beyond = try memoryStore(files)
    #expect(throws: StoreError.self) { try beyond.compact() }
    #expect(try tail(beyond) == texts)
  }
}
