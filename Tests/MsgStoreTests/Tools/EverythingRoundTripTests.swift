import MsgStore
import PageFile
import Testing
import msgdump

/// A store that is restored from an export is the same store: everything that can be in one comes
/// back, and the second export has the same bytes, but that what waited to go out is held.
@Suite struct EverythingRoundTripTests {
  @Test func aRestoredStoreHasTheSameExport() throws {
    for seed in seeds(12) {
      var random = RandomStore(seed: seed)
      let store = try random.make(stepCount: 400)
      try store.expectSound()
      let exported = try export(store)
      let (restored, _) = try restore(exported)
      let again = try export(restored)
      try store.holdOutbox()
      expectSame(again, try export(store), "seed \(seed)")
      let (twice, _) = try restore(again)
      expectSame(try export(twice), again, "seed \(seed), once more")
      try restored.expectSound()
      try expectSameView(restored, store, seed)
    }
  }

  /// Nothing is lost of an undamaged store.
  @Test func aSalvagedStoreHasTheSameExport() throws {
    for seed in seeds(8) {
      let directory = MemoryDirectory()
      var random = RandomStore(seed: seed)
      let store = try random.make(stepCount: 400, in: directory)
      // Otherwise the same again but for what is held.
      try store.holdOutbox()
      let exported = try export(store)
      try store.close()
      let target = MemoryDirectory()
      let source = try PageSalvage(in: directory, name: "store")
      let report = try MessageSalvage(source).run(in: target, name: "new")
      #expect(report.isWhole, "seed \(seed): \(report.repairs) \(report.lostRecords)")
      let salvaged = try MessageStore(in: target, name: "new", options: StoreOptions())
      expectSame(try export(salvaged), exported, "seed \(seed)")
      try salvaged.expectSound()
      try salvaged.close()
    }
  }

  /// Compacted beside whatever else is done with it, a store keeps everything.
  @Test func aCompactedStoreHasTheSameExport() throws {
    for seed in seeds(6) {
      let directory = MemoryDirectory()
      var random = RandomStore(seed: seed)
      let store = try random.make(stepCount: 300, in: directory)
      let exported = try export(store)
      try store.compact { _ in
        expectSame(try export(store), exported, "seed \(seed)")
        try store.expectSound()
      }
      expectSame(try export(store), exported, "seed \(seed)")
      try store.close()
      let reopened = try MessageStore(in: directory, name: "store")
      expectSame(try export(reopened), exported, "seed \(seed)")
      try reopened.expectSound()
    }
  }

  /// What somebody sees of two stores.
  private func expectSameView(
    _ a: MessageStore, _ b: MessageStore, _ seed: UInt64
  ) throws {
    func views(_ store: MessageStore) throws -> [String] {
      try store.read { snapshot in
        var views = ["\(try snapshot.unreadTotals)"]
        for conversation in try snapshot.conversations(count: 100) {
          let id = conversation.id
          views.append(
            "\(id) \(conversation.unreadCount) \(conversation.unreadMentionCount) "
              + "\(conversation.messageCount) \(conversation.participants) "
              + "\(String(describing: conversation.preview))")
          views.append("\(id) \(try snapshot.participations(in: id))")
          views.append("\(id) \(try snapshot.gaps(in: id))")
          for message in try snapshot.thread(id).tail(1000) {
            views.append("\(message.id) \(message.status) \(message.text)")
          }
        }
        return views
      }
    }
    for (mine, theirs) in zip(try views(a), try views(b)) {
      #expect(mine == theirs, "seed \(seed)")
    }
  }

  private func expectSame(_ a: [UInt8], _ b: [UInt8], _ comment: String) {
    guard a != b else { return }
    let (mine, theirs) = (
      String(decoding: a, as: UTF8.self).split(separator: "\n"),
      String(decoding: b, as: UTF8.self).split(separator: "\n")
    )
    let index = zip(mine, theirs).enumerated().first { $1.0 != $1.1 }?.offset
    let line = index ?? min(mine.count, theirs.count)
    let shown = [mine, theirs].map { line < $0.count ? String($0[line]) : "nothing" }
    Issue.record("\(comment), line \(line + 1): \(shown[0]) where \(shown[1]) was")
  }

  private func export(_ store: MessageStore) throws -> [UInt8] {
    var bytes: [UInt8] = []
    try StoreExport.records(of: store) { JSONLineWriter.append($0, to: &bytes) }
    return bytes
  }

  private func restore(_ lines: [UInt8]) throws -> (MessageStore, MemoryDirectory) {
    let directory = MemoryDirectory()
    let restorer = Restorer(isLenient: false, numbersFromOrder: false, localMember: nil)
    try restorer.restore(JSONRecordReader(isLenient: false, source: source(of: lines))) {
      options throws(StoreError) in
      try MessageStore(in: directory, name: "store", options: options)
    }
    return (try MessageStore(in: directory, name: "store", options: StoreOptions()), directory)
  }
}
