import MsgStore
import MsgStoreTools
import PageFile
import PageFileSalvage
import Simulation
import Testing

/// The salvage of an encrypted message store writes an encrypted one under the same key.
struct EncryptedSalvageTests {
  @Test func withoutItsFirst32KiBAStoreIsSavedWhole() throws {
    let seals = SealSource(seed: 31)
    let directory = MemoryDirectory()
    var options = StoreOptions(localMember: "me", clock: { Timestamp(microseconds: 5) })
    options.encryption = seals.encryption
    let store = try MessageStore(in: directory, name: "store", options: options)
    try store.write { chat in
      for index in 0..<900 {
        try chat.insert(message(MessageID("m-\(index)"), at: Int64(index), Int64(index + 1)))
      }
    }
    let content = try StoreContent(store)
    store.core.database.abandon()
    directory["store"] =
      [UInt8](repeating: 0, count: 32768)
      + (try #require(directory["store"])).dropFirst(32768)
    #expect(throws: PageFileError.keyMissing(path: "memory:store")) {
      try PageSalvage(in: directory, name: "store")
    }
    let source = try PageSalvage(in: directory, name: "store", encryption: seals.encryption)
    let target = MemoryDirectory()
    _ = try MessageSalvage(source).run(in: target, name: "new")
    #expect(throws: StoreError.storage(.keyMissing(path: "memory:new"))) {
      try MessageStore(in: target, name: "new")
    }
    let saved = try MessageStore(in: target, name: "new", options: options)
    #expect(try saved.check() == [])
    let isSame = try StoreContent(saved) == content
    #expect(isSame)
  }
}
