import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// Whatever is done to a store, nobody can see whether its messages lie in segments.
struct PackedAndLooseTests {
  @Test func packedAndLooseStoresAnswerAlike() throws {
    var segmentCount = 0
    let seeds = seeds(6, debugCount: 3)
    for seed in seeds {
      var random = SeededGenerator(seed: seed)
      let packing = PackingSizes(
        looseCount: [0, 1, 3].randomElement(using: &random) ?? 0,
        maximumSegmentByteCount: [150, 300, 1000, .max].randomElement(using: &random) ?? 300)
      let idCount = random.chance(50) ? 60 : 300
      let directory = MemoryDirectory()
      var packed = RandomStore(seed: seed, packing: packing, idCount: idCount)
      var loose = RandomStore(seed: seed, packing: nil, idCount: idCount)
      (packed.expiresLater, loose.expiresLater) = (true, true)
      let b: MessageStore
      do {
        b = try loose.make(stepCount: 600)
      } catch StoreError.corruptRecord {
        // What goes wrong in both is no matter of packing.
        #expect(throws: StoreError.self) { try packed.make(stepCount: 600, in: directory) }
        continue
      }
      let a = try packed.make(stepCount: 600, in: directory)
      let findings = try b.check()
      #expect(try a.check() == findings, "seed \(seed)")
      segmentCount += try Cells(directory).segments.count
      let expected = try export(b)
      expectSame(try export(a), expected, "seed \(seed)")
      try expectSameSlices(a, b, seed)
      // Once with nothing loose but the newest, and dictionaries if there is enough text.
      try a.compact()
      #expect(try a.check() == findings, "seed \(seed)")
      expectSame(try export(a), expected, "seed \(seed)")
      try expectSameSlices(a, b, seed)
      try a.close()
      try b.close()
    }
    #expect(segmentCount > seeds.count, "\(segmentCount) segments")
  }

  private func expectSame(_ a: [UInt8], _ b: [UInt8], _ comment: String) {
    guard a != b else { return }
    let lines = [a, b].map { String(decoding: $0, as: UTF8.self).split(separator: "\n") }
    let line = zip(lines[0], lines[1]).enumerated().first { $1.0 != $1.1 }?.offset
    let shown = lines.map { all in line.map { String(all[$0]) } ?? "\(all.count) lines" }
    Issue.record("\(comment): \(shown[0]) where \(shown[1]) was")
  }

  /// The export but for tokens, which each store draws for itself.
  private func export(_ store: MessageStore) throws -> [UInt8] {
    var bytes: [UInt8] = []
    try StoreExport.records(of: store) { record in
      var record = record
      if case .outbox(var entry) = record {
        entry.token = nil
        record = .outbox(entry)
      }
      JSONLineWriter.append(record, to: &bytes)
    }
    return bytes
  }

  /// Every slice from, to and around every message, and at every time.
  private func expectSameSlices(_ a: MessageStore, _ b: MessageStore, _ seed: UInt64) throws {
    try a.read { a in
      try b.read { b in
        for id: ConversationID in ["a", "b", "c", "d"] {
          guard let conversation = try a.conversation(id) else {
            let other = try b.conversation(id)
            #expect(other == nil, "seed \(seed)")
            continue
          }
          let other = try b.conversation(id)
          #expect(other == conversation, "seed \(seed)")
          let mine = try a.thread(id)
          let theirs = try b.thread(id)
          try expectSame(mine.tail(7), theirs.tail(7), "\(seed)")
          try expectSame(mine.firstUnread(count: 5), theirs.firstUnread(count: 5), "\(seed)")
          for message in try mine.allMessages() {
            let comment = "seed \(seed): \(message.id) in \(id)"
            let byName = [try a.message(message.id, in: id), try b.message(message.id, in: id)]
            #expect(byName[0] == byName[1], "\(comment)")
            let place = message.position
            for count in [1, 4] {
              try expectSame(
                mine.before(place, count: count), theirs.before(place, count: count), comment)
              try expectSame(
                mine.after(place, count: count), theirs.after(place, count: count), comment)
              try expectSame(
                mine.around(message.id, count: count), theirs.around(message.id, count: count),
                comment)
            }
            for shift: Int64 in -1...1 {
              guard let time = message.serverTimestamp?.microseconds else { continue }
              let moment = Timestamp(microseconds: time + shift)
              try expectSame(mine.at(moment, count: 3), theirs.at(moment, count: 3), comment)
            }
          }
        }
      }
    }
  }

  private func expectSame(_ a: MessageSlice, _ b: MessageSlice, _ comment: String) throws {
    guard Array(a) != Array(b) || a.older != b.older || a.newer != b.newer else { return }
    let shown = [a, b].map { "\($0.ids), \($0.older), \($0.newer)" }
    Issue.record("\(comment): \(shown[0]) where \(shown[1]) was")
  }
}
