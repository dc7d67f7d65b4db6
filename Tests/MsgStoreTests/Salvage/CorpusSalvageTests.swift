import Foundation
import MsgStore
import MsgStoreTools
import PageFile
import PageFileSalvage
import Testing

/// Random pages of a store of real chat are destroyed, and what needs none of them is saved.
///
/// A part of the corpus unless `MSGSTORE_CORPUS_ALL` is set, which takes a release build.
struct CorpusSalvageTests {
  private static let isWhole = ProcessInfo.processInfo.environment["MSGSTORE_CORPUS_ALL"] != nil
  private static let roundCount = isWhole ? 10 : 1

  @Test(
    .enabled(
      if: Corpus.isThere,
      "shared/data/chat-corpus.jsonl.xz is not beside the package, or xz is not installed"))
  func messagesOnWholePagesAreSaved() throws {
    let corpus = try #require(Corpus.file)
    let directory = try TemporaryDirectory()
    let part = #" | LC_ALL=C awk 'NR <= 5000 || NR % 40 == 0'"#
    let lines = #"xz -dc "$1""# + (Self.isWhole ? "" : part)
    try Corpus.shell("\(lines) | \"$2\" restore --lenient - store", corpus, directory)
    let intact = try SalvageSubject(
      try directory.contents.filter { SalvageSubject.names.contains($0.key) }
        .mapValues { Array($0) })
    let original = try intact.salvage()
    #expect(original.pages.isWhole && original.saved.isWhole)
    #expect(original.content.messages.count == intact.messageSlots.count)
    print("messages: \(intact.messageSlots.count), slots: \(intact.slotCount)")
    let seed = seeds(1)[0]
    var random = SeededGenerator(seed: seed)
    let blockCount = intact.blockCountBefore + intact.slotCount
    for count in [1, 10, 100] {
      for _ in 0..<Self.roundCount {
        var blocks = Set<Int>()
        for block in (0..<blockCount).shuffled(using: &random) where blocks.count < count {
          // Where both copies of a piece of the dictionary are lost, so are messages that use it.
          let slots = Set((blocks + [block]).map(intact.slot(ofBlock:)))
          if !intact.isDictionaryCut(without: slots) { blocks.insert(block) }
        }
        try expect(blocks, intact, original.content, savedShare: 999, &random, "seed \(seed)")
      }
    }
    // One message in eight refers to this piece: blocks are made with all of the dictionary.
    let cut = try #require(intact.firstDictionaryPiece).map(intact.block(ofSlot:))
    try expect(Set(cut), intact, original.content, savedShare: 850, &random, "a cut dictionary")
  }

  /// Destroys blocks of the data file as long as a page, those with meta slots among them.
  ///
  /// - Parameter savedShare: How many of a thousand messages on whole pages are saved at least.
  private func expect(
    _ blocks: Set<Int>, _ intact: SalvageSubject, _ original: StoreContent, savedShare: Int,
    _ random: inout SeededGenerator, _ comment: Comment
  ) throws {
    var subject = intact
    let byteCount = intact.pageByteCount
    for block in blocks.sorted() {
      subject.fill(block * byteCount..<(block + 1) * byteCount, of: "store", &random)
    }
    let expected = intact.messages(without: Set(blocks.map(intact.slot(ofBlock:))))
    let salvaged = try subject.salvage()
    let saved = salvaged.content.messages
    let savedCount = expected.count { saved[$0] != nil }
    print(
      "destroyed \(blocks.count): \(expected.count) messages on whole pages, \(savedCount) of them saved, "
        + "\(saved.count) in all; \(salvaged.pages.lostPages.count) pages lost")
    #expect(savedCount * 1000 >= expected.count * savedShare, comment)
    // Names and details may be lost; what was said and when may not.
    let changed = saved.values.count { message in
      guard let other = original.messages[message.id] else { return true }
      return Array(message.text.utf8) != Array(other.text.utf8)
        || message.position != other.position
    }
    #expect(changed == 0, comment)
  }
}
