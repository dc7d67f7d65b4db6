import MsgStore
import MsgStoreTools
import PageFile
import Simulation
import Testing

/// Copies of a plain store that are encrypted, and of an encrypted one that are not.
struct EncryptedCopyTests {
  private let seals = SealSource(seed: 11, key: 1)

  /// Cells of an encrypted store are shorter, so the largest segments are packed again.
  @Test(arguments: [4096, 32768]) func aStoreIsEncryptedAndDecryptedByCopies(page: Int) throws {
    let directory = MemoryDirectory()
    var options = StoreOptions(localMember: "me", pageByteCount: page).makingConversations
    options.clock = { Timestamp(microseconds: 1_000_000) }
    let plain = try MessageStore(in: directory, name: "store", options: options)
    var random = SeededGenerator(seed: 77)
    for start in stride(from: 0, to: 6000, by: 500) {
      try plain.write { chat in
        for index in start..<start + 500 {
          let words = (0..<Int.random(in: 1..<9, using: &random)).map { _ in
            String(UInt32.random(in: 0..<99999, using: &random), radix: 36)
          }
          try chat.insert(
            message(
              MessageID("m-\(index)"), at: Int64(index), Int64(index + 1),
              text: words.joined(separator: " ")))
        }
      }
    }
    // Some records lie beside their segments.
    try plain.write { chat in
      for index in stride(from: 3, to: 5000, by: 37) {
        let reaction = Reaction("👍", from: "you", at: Timestamp(microseconds: 1))
        try chat.receive(reaction, to: MessageID("m-\(index)"), in: "room")
      }
    }
    let content = try StoreContent(plain)
    try plain.backUp(to: directory, name: "sealed", encryption: seals.encryption)
    var sealedOptions = options
    sealedOptions.encryption = seals.encryption
    let sealed = try MessageStore(in: directory, name: "sealed", options: sealedOptions)
    #expect(try sealed.check() == [])
    let isSealedSame = try StoreContent(sealed) == content
    #expect(isSealedSame)
    try sealed.backUp(to: directory, name: "opened", encryption: nil)
    let opened = try MessageStore(in: directory, name: "opened", options: options)
    #expect(try opened.check() == [])
    let isOpenedSame = try StoreContent(opened) == content
    #expect(isOpenedSame)
    // Segments that are packed again split their pages, which are half full until a compaction.
    for store in [sealed, opened] {
      try store.compact()
      try store.checkpoint()
    }
    let sizes = try ["sealed", "opened"].map { try #require(directory[$0]).count }
    #expect(sizes[0] * 100 <= sizes[1] * 102, "\(sizes)")
  }
}
