import MsgStore
import PageFile
import Testing

/// What is taken back or deleted goes out of segments, and has never been in a dictionary.
struct SegmentErasureTests {
  @Test(arguments: [false, true], [false, true])
  func noFileHasWhatWasInASegment(hasDictionary: Bool, isDeleted: Bool) throws {
    let wordy = try WordyStore(
      seed: seeds(1)[0], secret: WordyStore.canary, compacts: hasDictionary)
    let (store, id) = (wordy.store, WordyStore.id(700))
    #expect(try Cells(wordy.files).newestDictionary().number == (hasDictionary ? 1 : 0))
    #expect(try WordyStore.isAnywhere(WordyStore.canary, in: wordy.files), "the search works")
    // No part of it is worth remembering.
    let dictionary = String(
      decoding: try Cells(wordy.files).newestDictionary().bytes, as: UTF8.self)
    let letters = Array(WordyStore.canary)
    for start in 0..<letters.count - 4 {
      #expect(!dictionary.contains(String(letters[start..<start + 4])))
    }
    let expected = try WordyStore.texts(store).filter { !$0.hasPrefix("\(id)") }
    try store.write { chat in
      if isDeleted {
        _ = try chat.delete(id, in: "room")
      } else {
        _ = try chat.receiveRetraction(of: id, in: "room")
      }
    }
    try store.checkpoint()
    #expect(try !WordyStore.isAnywhere(WordyStore.canary, in: wordy.files))
    #expect(try WordyStore.texts(store).filter { !$0.hasPrefix("\(id)") } == expected)
    try store.compact()
    try store.expectSound()
    try store.close()
    #expect(try !WordyStore.isAnywhere(WordyStore.canary, in: wordy.files))
  }

  /// Late, edited and moved messages are no less erased.
  @Test func noFileHasWhatWasChangedInASegment() throws {
    let wordy = try WordyStore(seed: seeds(1)[0])
    let store = wordy.store
    try store.write { chat in
      _ = try chat.receiveEdit(
        of: WordyStore.id(500), in: "room", text: WordyStore.canary,
        at: Timestamp.plausibleRange.upperBound)
      try chat.insert(
        message("late", at: 700 * 3_000_000_000 + 1, 90_000, text: "late \(WordyStore.canary)"))
    }
    #expect(try WordyStore.isAnywhere(WordyStore.canary, in: wordy.files))
    try store.write { chat in
      _ = try chat.acknowledge(
        "late", in: "room", serverTimestamp: time(900 * 3_000_000_000 + 1), sequence: 90_001,
        revision: 1)
    }
    try store.write { chat in
      _ = try chat.delete("late", in: "room")
      _ = try chat.receiveRetraction(of: WordyStore.id(500), in: "room")
    }
    try store.checkpoint()
    #expect(try !WordyStore.isAnywhere(WordyStore.canary, in: wordy.files))
    try store.expectSound()
  }
}
