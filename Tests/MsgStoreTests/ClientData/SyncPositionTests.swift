import MsgStore
import PageFile
import Simulation
import Testing

/// What clients keep beside the messages, in the same commits.
struct SyncPositionTests {
  @Test func whatWasStoredLastIsThere() throws {
    let directory = MemoryDirectory()
    let store = try memoryStore(directory)
    try store.write { chat in
      #expect(try chat.syncPosition(for: "server") == nil)
      #expect(try chat.setSyncPosition([1, 2], for: "server"))
      try chat.setSyncPosition([], for: "empty")
      try chat.setSyncPosition([7], for: "server", in: "room")
      #expect(try chat.syncPosition(for: "server") == [1, 2])
      #expect(try chat.syncPosition(for: "server", in: "room") == [7])
    }
    let long = [UInt8](repeating: 9, count: SyncPosition.maximumByteCount)
    try store.write { chat in
      try chat.setSyncPosition(long, for: "server")
      try chat.setSyncPosition([3], for: "e\u{301}")
      try chat.setSyncPosition([4], for: "\u{E9}")
    }
    try store.close()
    let again = try memoryStore(directory)
    try again.read { chat in
      let all = try chat.syncPositions()
      #expect(all.map(\.bytes) == [[], [3], long, [4]])
      #expect(all.map(\.key.utf8.first) == [0x65, 0x65, 0x73, 0xC3])
      #expect(try chat.syncPosition(for: "server") == long)
      #expect(try chat.syncPositions(in: "room").map(\.bytes) == [[7]])
      #expect(try chat.syncPosition(for: "server", in: "unknown") == nil)
      #expect(try chat.syncPositions(in: "unknown") == [])
      #expect(try chat.syncPosition(for: "") == nil)
    }
    try again.write { chat throws in
      #expect(try chat.setSyncPosition(nil, for: "server"))
      #expect(try chat.setSyncPosition(nil, for: "server", in: "room"))
      #expect(try !chat.setSyncPosition(nil, for: "server", in: "unknown"))
    }
    try again.read { chat in
      let all = try chat.syncPositions()
      #expect(all.count == 3)
      #expect(try chat.syncPositions(in: "room") == [])
      #expect(try chat.conversation("unknown") == nil)
    }
    try again.expectSound()
  }

  @Test func whatIsTooLongOrEmptyIsRefused() throws {
    let store = try memoryStore()
    let limit = SyncPosition.maximumByteCount
    try store.write { chat in
      try chat.setSyncPosition([1], for: String(repeating: "k", count: 255))
      #expect(throws: StoreError.input(.tooLong(.syncPosition, byteCount: limit + 1, limit: limit)))
      {
        try chat.setSyncPosition([UInt8](repeating: 0, count: limit + 1), for: "k")
      }
      for key in ["", String(repeating: "k", count: 256)] {
        #expect(
          throws: StoreError.input(
            .identifier(
              what: "key of a sync position", byteCount: key.utf8.count))
        ) { try chat.setSyncPosition([1], for: key) }
      }
      #expect(throws: StoreError.self) { try chat.setSyncPosition([1], for: "k", in: "") }
    }
    #expect(try store.read { try $0.syncPositions().count } == 1)
  }

  /// At every call that changes the disk the process is killed, or the power is cut.
  @Test func afterAnyCrashPositionAndMessagesBelongTogether() throws {
    var random = SeededRandom(seed: 7)
    let directory = SimulatedDirectory()
    var disks: [SimulatedDisk] = []
    let options = StoreOptions(localMember: "me", clock: { Timestamp(microseconds: 1) })
    let store = try MessageStore(in: directory, name: "store", options: options)
    directory.observe { disk, _ in disks.append(disk) }
    for batch in 1...20 {
      try store.write(batch % 3 == 0 ? .full : .relaxed) { chat in
        for number in 0..<batch % 4 {
          try chat.insert(message(MessageID("m\(batch)-\(number)"), at: Int64(batch)))
        }
        try chat.setSyncPosition([UInt8](repeating: UInt8(batch), count: batch * 50), for: "s")
        try chat.setSyncPosition([UInt8(batch)], for: "s", in: "room")
      }
      if batch % 7 == 0 { try store.checkpoint() }
    }
    try store.close()
    var batchesFound: Set<Int> = []
    let choices = CrashChoices()
    for disk in disks {
      for crash in [.kill, choices.crash(disk, &random)] {
        let rest =
          switch crash {
          case .kill: disk
          case .powerCut(let cut): disk.afterPowerCut(cut, .worst)
          }
        let store = try MessageStore(
          in: SimulatedDirectory(rest), name: "store", options: options)
        batchesFound.insert(try expectWhole(store))
        try store.close()
      }
    }
    #expect(batchesFound.count > 10)
  }

  /// Returns the batch up to which everything is there.
  private func expectWhole(_ store: MessageStore) throws -> Int {
    try store.read { chat in
      let position = try chat.syncPosition(for: "s") ?? []
      let batch = Int(position.first ?? 0)
      #expect(position.count == batch * 50)
      #expect(Int(try chat.syncPosition(for: "s", in: "room")?.first ?? 0) == batch)
      let found = try chat.thread("room").tail(1000).map(\.id.string)
      let expected = (0...batch).flatMap { batch in (0..<batch % 4).map { "m\(batch)-\($0)" } }
      #expect(found == expected)
      return batch
    }
  }
}
