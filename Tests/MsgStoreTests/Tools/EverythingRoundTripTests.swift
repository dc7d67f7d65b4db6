import MsgStore
import MsgStoreTools
import PageFile
import PageFileSalvage
import Testing

/// A store that is restored from an export is the same store: everything that can be in one comes
/// back, and the second export has the same bytes, but that what waited to go out is held.
struct EverythingRoundTripTests {
  @Test func aRestoredStoreHasTheSameExport() {
    for seed in seeds(12, debugCount: 4) {
      var random = RandomStore(seed: seed)
      random.expiresLater = true
      random.expectSound(stepCount: 400) { made in
        let store = try made.play()
        if let defect = try store.defect() { return defect }
        let (restored, _) = try restore(try export(store))
        let again = try export(restored)
        try store.holdOutbox()
        let (twice, _) = try restore(again)
        return try difference(again, try export(store)) ?? difference(try export(twice), again)
          ?? restored.defect() ?? difference(try views(restored), try views(store))
      }
    }
  }

  /// Nothing is lost of an undamaged store.
  @Test func aSalvagedStoreHasTheSameExport() {
    for seed in seeds(8, debugCount: 3) {
      var random = RandomStore(seed: seed)
      random.expiresLater = true
      random.expectSound(stepCount: 400) { made in
        let directory = MemoryDirectory()
        let store = try made.play(in: directory)
        // Otherwise the same again but for what is held.
        try store.holdOutbox()
        let exported = try export(store)
        try store.close()
        let target = MemoryDirectory()
        let source = try PageSalvage(in: directory, name: "store")
        let report = try MessageSalvage(source).run(in: target, name: "new")
        if !report.isWhole { return "\(report.repairs) \(report.lostRecords)" }
        let salvaged = try MessageStore(in: target, name: "new", options: options)
        defer { try? salvaged.close() }
        return try difference(try export(salvaged), exported) ?? salvaged.defect()
      }
    }
  }

  /// Compacted beside whatever else is done with it, a store keeps everything.
  @Test func aCompactedStoreHasTheSameExport() {
    for seed in seeds(6, debugCount: 2) {
      var random = RandomStore(seed: seed)
      random.expiresLater = true
      random.expectSound(stepCount: 300) { made in
        let directory = MemoryDirectory()
        let store = try made.play(in: directory)
        let exported = try export(store)
        var defect: String?
        try store.compact { _ in
          if defect == nil {
            defect = try difference(try export(store), exported) ?? store.defect()
          }
        }
        defect = try defect ?? difference(try export(store), exported)
        try store.close()
        let reopened = try MessageStore(in: directory, name: "store", options: options)
        defer { try? reopened.close() }
        return try defect ?? difference(try export(reopened), exported) ?? reopened.defect()
      }
    }
  }

  /// Those of copies, in which no work goes on: they are compared as they came.
  private var options: StoreOptions {
    var options = StoreOptions()
    options.worksInBackground = false
    return options
  }

  /// What somebody sees of a store.
  private func views(_ store: MessageStore) throws -> [UInt8] {
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
      return Array(views.joined(separator: "\n").utf8)
    }
  }

  /// The first line in which two texts differ; nil if none does.
  private func difference(_ a: [UInt8], _ b: [UInt8]) -> String? {
    guard a != b else { return nil }
    let (mine, theirs) = (
      String(decoding: a, as: UTF8.self).split(separator: "\n"),
      String(decoding: b, as: UTF8.self).split(separator: "\n")
    )
    let index = zip(mine, theirs).enumerated().first { $1.0 != $1.1 }?.offset
    let line = index ?? min(mine.count, theirs.count)
    let shown = [mine, theirs].map { line < $0.count ? String($0[line]) : "nothing" }
    return "line \(line + 1): \(shown[0]) where \(shown[1]) was"
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
    return (try MessageStore(in: directory, name: "store", options: options), directory)
  }
}
