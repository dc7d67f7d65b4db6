import Foundation
import MsgStore
import PageFile
import Simulation
import Testing

/// A byte changed anywhere in a store: what is read is right, or an error says which page is not.
struct FlippedPageTests {
  private static let pageByteCount = 4096
  private static let sectorByteCount = 512
  private static let flipsPerPlace = Scale.count(debug: 1, release: 3)

  @Test func aFlippedByteInAnyPageIsFoundOrDoesNotMatter() throws {
    var random = SeededGenerator(seed: seeds(1)[0])
    let directory = try TemporaryDirectory()
    let sample = try directory.run("sample", "--messages", "250").text
    try #require(try directory.run("restore", "-", "store", input: sample).status == 0)
    let path = directory.path("store")
    let fine = try directory.run("check", "store").text
    let messages = try Self.messages(of: path)
    let pages = try Self.pagesBySlot(of: path)
    var flipCount = 0
    var foundCount = 0
    var namedCount = 0
    for (name, range) in try Self.places(in: directory) {
      let file = directory.url.appendingPathComponent(name)
      let bytes = try Data(contentsOf: file)
      for _ in 0..<Self.flipsPerPlace {
        let offset = Int.random(in: range, using: &random)
        var damaged = bytes
        damaged[offset] ^= UInt8.random(in: 1...255, using: &random)
        try damaged.write(to: file)
        let run = try directory.run("check", "store")
        #expect(!run.wasSignalled && run.status <= 2, "byte \(offset) of \(name)")
        #expect(run.status != 0 || run.text == fine, "byte \(offset) of \(name)")
        flipCount += 1
        if run.status != 0 { foundCount += 1 }
        do {
          let seen = try Self.messages(of: path)
          #expect(seen == messages, "byte \(offset) of \(name)")
        } catch StoreError.storage(.corruptPage(let number, _)) {
          // Slots begin behind the two regions of the meta slots.
          let slot = (offset - 2 * MetaSlot.regionByteCount) / Self.pageByteCount + 1
          if let page = pages[slot] { #expect(number == page, "byte \(offset) of slot \(slot)") }
          namedCount += 1
        } catch StoreError.storage(.corruptMeta) {
          #expect(offset < 2 * MetaSlot.regionByteCount && name == "store")
        }
        #expect(try Data(contentsOf: file) == damaged, "byte \(offset) of \(name)")
      }
      try bytes.write(to: file)
    }
    print("flipped bytes: \(flipCount), found by check: \(foundCount), by reading: \(namedCount)")
    #expect(foundCount * 3 > pages.count * Self.flipsPerPlace && namedCount > 0)
  }

  /// The other meta slot stands in for it, but that is one accident from a lost store.
  @Test(arguments: 0..<2)
  func aFlippedByteInAMetaSlotIsAFinding(slot: Int) throws {
    let directory = try TemporaryDirectory()
    let sample = try directory.run("sample", "--messages", "10").text
    try #require(try directory.run("restore", "-", "store", input: sample).status == 0)
    let file = directory.url.appendingPathComponent("store")
    var bytes = try Data(contentsOf: file)
    bytes[MetaSlot.offset(of: slot) + Int.random(in: 0..<Self.sectorByteCount)] ^= 1
    try bytes.write(to: file)
    let run = try directory.run("check", "store")
    #expect(run.status == 1 && run.text == "meta slot \(slot) cannot be read\n", "\(run.text)")
  }

  /// Each page of the data file and what lies before them, each meta slot by itself, and what the log
  /// has at its beginning.
  private static func places(
    in directory: TemporaryDirectory
  ) throws -> [(name: String, range: Range<Int>)] {
    let byteCount = try Data(contentsOf: directory.url.appendingPathComponent("store")).count
    let pages = stride(from: 0, to: byteCount, by: pageByteCount).map {
      ("store", $0..<$0 + pageByteCount)
    }
    let metas = (0..<2).map { index in
      ("store", MetaSlot.offset(of: index)..<MetaSlot.offset(of: index) + sectorByteCount)
    }
    let logs = ["store-wal0", "store-wal1"].flatMap { name in
      [0, WALHeader.commitsOffset].map { (name, $0..<$0 + sectorByteCount) }
    }
    return pages + metas + logs
  }

  private static func messages(of path: String) throws -> [Message] {
    let store = try MessageStore(path: path, options: StoreOptions(access: .readOnly))
    var messages: [Message] = []
    try store.read { snapshot in
      messages = []
      for conversation in try snapshot.conversations(count: 100) {
        messages += try snapshot.thread(conversation.id).allMessages()
      }
    }
    return messages
  }

  private static func pagesBySlot(of path: String) throws -> [Int: PageNumber] {
    var pages: [Int: PageNumber] = [:]
    try Inspector(path: path).pages { pages[Int($0.slot)] = $0.number }
    return pages
  }
}
