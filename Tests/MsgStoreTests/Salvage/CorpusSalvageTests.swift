import Foundation
import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// Random pages of a store of real chat are destroyed, and what needs none of them is saved.
///
/// A part of the corpus unless `MSGSTORE_CORPUS_ALL` is set, which takes a release build.
@Suite struct CorpusSalvageTests {
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
    for count in [1, 10, 100] {
      for _ in 0..<Self.roundCount {
        try expect(count, intact, original.content, &random, "seed \(seed)")
      }
    }
  }

  /// Destroys as many blocks of the data file as long as a page, those with meta slots among them.
  private func expect(
    _ count: Int, _ intact: SalvageSubject, _ original: StoreContent,
    _ random: inout SeededGenerator, _ comment: Comment
  ) throws {
    var subject = intact
    let byteCount = intact.pageByteCount
    let blocksBefore = 2 * MetaSlot.regionByteCount / byteCount
    let blocks = (0..<blocksBefore + intact.slotCount).shuffled(using: &random).prefix(count)
    for block in blocks {
      subject.fill(block * byteCount..<(block + 1) * byteCount, of: "store", &random)
    }
    let slots = Set(blocks.map { $0 - blocksBefore + 1 })
    let expected = intact.messages(without: slots)
    let salvaged = try subject.salvage()
    let saved = salvaged.content.messages
    let savedCount = expected.count { saved[$0] != nil }
    print(
      "destroyed \(count): \(expected.count) messages on whole pages, \(savedCount) of them saved, "
        + "\(saved.count) in all; \(salvaged.pages.lostPages.count) pages lost")
    // Where both copies of a piece of the dictionary are lost, so are the messages that use it.
    let share = intact.isDictionaryCut(without: slots) ? 600 : 999
    #expect(savedCount * 1000 >= expected.count * share, comment)
    // Names and details may be lost; what was said and when may not.
    let changed = saved.values.count { message in
      guard let other = original.messages[message.id] else { return true }
      return Array(message.text.utf8) != Array(other.text.utf8)
        || message.position != other.position
    }
    #expect(changed == 0, comment)
  }
}
