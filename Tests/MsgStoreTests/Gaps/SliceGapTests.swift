import MsgStore
import Testing

/// Slices stop where sequence numbers are missing, and can be read on from beyond.
struct SliceGapTests {
  /// A thread of messages `m<sequence>`, whose times are their sequences.
  private func store(_ sequences: some Sequence<Int64>) throws -> MessageStore {
    let store = try memoryStore()
    try store.write { chat in
      try chat.insert(
        contentsOf: sequences.map { message(MessageID("m\($0)"), at: $0 * 10, $0) })
      for room: ConversationID in ["before", "later"] {
        try chat.insert(
          Message(in: room, from: "you", text: "no", serverTimestamp: time(5), sequence: 500))
      }
    }
    return store
  }

  private func names(_ range: ClosedRange<Int>) -> [String] { range.map { "m\($0)" } }

  private func gap(_ edge: SliceBoundary) -> ClosedRange<Int64>? {
    if case .gap(let missing, _) = edge { missing } else { nil }
  }

  @Test func aTailStopsAtAGapAndReadsOnBeyondIt() throws {
    try store(Array(40...42) + Array(58...61)).read { chat in
      let thread = try chat.thread("room")
      let tail = try thread.tail(100)
      #expect(tail.ids == names(58...61) && tail.newer == .end)
      #expect(gap(tail.older) == 43...57)
      let older = try thread.before(try #require(tail.older.next), count: 100)
      #expect(older.ids == names(40...42) && older.older == .end)
      #expect(gap(older.newer) == 43...57)
      let newer = try thread.after(try #require(older.newer.next), count: 100)
      #expect(newer == tail)
    }
  }

  @Test func aGapIsTheEdgeAlsoWhereTheCountEnds() throws {
    try store([1, 2, 5, 6]).read { chat in
      let thread = try chat.thread("room")
      #expect(gap(try thread.tail(2).older) == 3...4)
      let first = try thread.after(try #require(try thread.tail(2).older.next), count: 1)
      #expect(first.ids == ["m5"] && gap(first.older) == 3...4)
      #expect(first.newer == .more(first[0].position))
      let last = try thread.before(try #require(first.older.next), count: 1)
      #expect(last.ids == ["m2"] && gap(last.newer) == 3...4)
    }
  }

  @Test func directlyAtAGapASliceIsEmptyAndLeadsToBothSides() throws {
    try store([1, 2, 5, 6]).read { chat in
      let thread = try chat.thread("room")
      let above = try #require(try chat.message("m5", in: "room")).position
      let empty = try thread.before(above, count: 3)
      #expect(empty.isEmpty && gap(empty.older) == 3...4)
      #expect(try thread.before(try #require(empty.older.next), count: 3).ids == ["m1", "m2"])
      #expect(try thread.after(try #require(empty.newer.next), count: 3).ids == ["m5", "m6"])
      let below = try #require(try chat.message("m2", in: "room")).position
      let other = try thread.after(below, count: 3)
      #expect(other.isEmpty && gap(other.newer) == 3...4)
      #expect(try thread.after(try #require(other.newer.next), count: 3).ids == ["m5", "m6"])
      #expect(try thread.before(try #require(other.older.next), count: 3).ids == ["m1", "m2"])
    }
  }

  @Test func theRunNearestToTheSliceIsTheGap() throws {
    let store = try store([1, 10])
    try store.write { _ = try $0.declareAbsent(4...6, in: "room") }
    try store.read { chat in
      let thread = try chat.thread("room")
      let tail = try thread.tail(5)
      #expect(tail.ids == ["m10"] && gap(tail.older) == 7...9)
      let head = try thread.before(try #require(tail.older.next), count: 5)
      #expect(head.ids == ["m1"] && gap(head.newer) == 2...3)
    }
  }

  @Test func aroundAMessageBothSidesStopAndGiveTheRestToTheOther() throws {
    try store([1, 2] + Array(10...20) + [30]).read { chat in
      let thread = try chat.thread("room")
      let low = try thread.around("m11", count: 7)
      #expect(low.ids == names(10...16))
      #expect(gap(low.older) == 3...9 && low.newer == .more(low[6].position))
      let high = try thread.around("m19", count: 7)
      #expect(high.ids == names(14...20))
      #expect(gap(high.newer) == 21...29 && high.older == .more(high[0].position))
      let all = try thread.around("m15", count: 50)
      #expect(all.ids == names(10...20))
      #expect(gap(all.older) == 3...9 && gap(all.newer) == 21...29)
      for count in [1, 2, 9] {
        let lone = try thread.around("m30", count: count)
        #expect(lone.ids == ["m30"] && gap(lone.older) == 21...29 && lone.newer == .end)
      }
      // A time within the gap: the first message behind it.
      let behind = try thread.at(time(50), count: 4)
      #expect(behind.ids == names(10...13) && gap(behind.older) == 3...9)
    }
  }

  @Test func pendingMessagesAndThoseWithoutASequenceAreNoGapAndHideNone() throws {
    let store = try memoryStore()
    try store.write { chat in
      try chat.insert(message("m1", at: 10, 1))
      try chat.insert(message("plain", at: 11))
      try chat.insert(message("m2", at: 12, 2))
      try chat.insert(message("notice", at: 13))
      try chat.insert(message("m9", at: 14, 9))
      try chat.insert(message("mine", at: nil, from: "me", local: 3))
    }
    try store.read { chat in
      let thread = try chat.thread("room")
      let tail = try thread.tail(9)
      #expect(tail.ids == ["notice", "m9", "mine"] && gap(tail.older) == 3...8)
      let older = try thread.before(try #require(tail.older.next), count: 9)
      #expect(older.ids == ["m1", "plain", "m2"] && older.older == .end)
      let first = try thread.at(time(0), count: 9)
      #expect(first.ids == ["m1", "plain", "m2", "notice"] && gap(first.newer) == 3...8)
      let rest = try thread.after(try #require(first.newer.next), count: 9)
      #expect(rest.ids == ["m9", "mine"])
    }
  }

  @Test func deletedAbsentAndLateNumbersAreNoGap() throws {
    let store = try store(1...9)
    try store.write { chat in
      for sequence in [3, 4, 7] { try chat.delete(MessageID("m\(sequence)"), in: "room") }
    }
    #expect(try store.read { try $0.thread("room").tail(9).count } == 6)
    try store.write { chat in
      try chat.insert(message("m20", at: 200, 20))
      // The transaction has not written its summary yet.
      #expect(try gap(chat.thread("room").tail(20).older) == 10...19)
      try chat.declareAbsent(10...18, in: "room")
      #expect(try gap(chat.thread("room").tail(20).older) == 19...19)
      try chat.insert(message("m19", at: 195, 19))
      #expect(try chat.thread("room").tail(20).count == 8)
    }
    let tail = try store.read { try $0.thread("room").tail(20) }
    #expect(tail.count == 8 && tail.older == .end)
  }

  @Test func aPositionBeyondAGapOutlivesItsNeighbours() throws {
    let store = try store([1, 2, 8, 9])
    let edge = try store.read { try $0.thread("room").tail(5).older }
    let beyond = try #require(edge.next)
    try store.write { chat in
      try chat.delete("m8", in: "room")
      try chat.insert(message("m5", at: 50, 5))
    }
    try store.read { chat in
      let thread = try chat.thread("room")
      let slice = try thread.before(beyond, count: 9)
      #expect(slice.ids == ["m5"] && gap(slice.older) == 3...4 && gap(slice.newer) == 6...7)
      #expect(try thread.after(beyond, count: 9).ids == ["m9"])
    }
  }

  @Test(arguments: seeds(6)) func readingOnAcrossGapsShowsEveryMessageOnce(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<12 {
      let store = try memoryStore()
      var present: Set<Int64> = []
      var known: Set<Int64> = []
      try store.write { chat in
        for _ in 0..<Int.random(in: 1..<40, using: &random) {
          let sequence = Int64.random(in: 0..<60, using: &random)
          if random.chance(15) {
            try chat.declareAbsent(sequence...sequence, in: "room")
          } else {
            present.insert(sequence)
            try chat.insert(message(MessageID("m\(sequence)"), at: sequence, sequence))
          }
          known.insert(sequence)
        }
        if random.chance(50), let sequence = present.randomElement(using: &random) {
          present.remove(sequence)
          try chat.delete(MessageID("m\(sequence)"), in: "room")
        }
      }
      try store.read { chat in
        try compare(chat.thread("room"), present.sorted(), known, &random)
      }
    }
  }

  /// Reads a thread in both directions and around messages, beside a list and a set.
  private func compare(
    _ thread: borrowing MessageThread, _ sorted: [Int64], _ known: Set<Int64>,
    _ random: inout SeededGenerator
  ) throws {
    let count = Int.random(in: 1..<8, using: &random)
    func missing(_ lower: Int64, _ upper: Int64) -> [Int64] {
      (lower..<upper).filter { $0 > lower && !known.contains($0) }
    }
    func expect(_ slice: MessageSlice) {
      let sequences = slice.compactMap(\.sequence)
      for (lower, upper) in zip(sequences, sequences.dropFirst()) {
        #expect(missing(lower, upper).isEmpty)
      }
      guard let first = sequences.first, let last = sequences.last else { return }
      let older = sorted.last { $0 < first }.map { missing($0, first) }
      #expect(gap(slice.older)?.upperBound == older?.last)
      #expect((slice.older == .end) == (older == nil))
      let newer = sorted.first { $0 > last }.map { missing(last, $0) }
      #expect(gap(slice.newer)?.lowerBound == newer?.first)
      #expect((slice.newer == .end) == (newer == nil))
      // Only an edge may make it shorter than what was asked for.
      if slice.count < count {
        #expect(older?.isEmpty != true || newer?.isEmpty != true)
      }
    }
    var seen: [Int64] = []
    var slice = try thread.tail(count)
    while true {
      expect(slice)
      #expect(!slice.isEmpty || sorted.isEmpty)
      seen = slice.compactMap(\.sequence) + seen
      guard let position = slice.older.next else { break }
      slice = try thread.before(position, count: count)
    }
    #expect(seen == sorted)
    seen = []
    slice = try thread.at(time(-1), count: count)
    while true {
      expect(slice)
      seen += slice.compactMap(\.sequence)
      guard let position = slice.newer.next else { break }
      slice = try thread.after(position, count: count)
    }
    #expect(seen == sorted)
    if let sequence = sorted.randomElement(using: &random) {
      let around = try thread.around(MessageID("m\(sequence)"), count: count)
      #expect(around.contains { $0.sequence == sequence })
      expect(around)
      if around.count < count {
        for edge in [around.older, around.newer] {
          if case .more = edge { Issue.record("around \(sequence) has room: \(around.ids)") }
        }
      }
    }
  }
}
