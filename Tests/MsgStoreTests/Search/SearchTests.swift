import MsgStore
import PageFile
import Simulation
import Testing

/// Searching whole stores: the messages in segments, beside them, alone, and pending.
struct SearchTests {
  /// Hits of a search slice by slice, each from a snapshot of its own.
  private func ids(
    _ store: MessageStore, _ query: SearchQuery, count: Int = 7, work: Int = .max
  ) throws -> [MessageID] {
    var edge: SearchEdge? = SearchEdge(query)
    var ids: [MessageID] = []
    var last = time(.max)
    while let next = edge {
      let slice = try store.read {
        try $0.search(from: next, count: count, maximumSearchedCount: work)
      }
      #expect(slice.count == count || slice.edge == nil || work < .max)
      #expect(slice.count <= count)
      for hit in slice {
        let time = try #require(hit.message.serverTimestamp ?? hit.message.localTime)
        #expect(time <= last)
        last = time
        ids.append(hit.message.id)
        #expect(!hit.textRanges.isEmpty || !hit.fileNameRanges.isEmpty)
      }
      edge = slice.edge
    }
    #expect(Set(ids).count == ids.count)
    return ids
  }

  private static let scripts = [
    "the quick brown fox jumps over lazy dogs THE END Straße café naïve ﬁne",
    "съешь ещё этих мягких французских булок да выпей чаю Её",
    "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία ὀξεία", "نص حكيم له سِرٌّ قاطِعٌ وَذُو شَأْنٍ",
    "דג סקרן שט בים מאוכזב שָׁלוֹם", "ऋषियों को सताने वाले दुष्ट राक्षसों", "เป็นมนุษย์สุดประเสริฐเลิศคุณค่า",
    "我能吞下玻璃而不伤身体你好", "いろはにほへと ちりぬるを ガギグ ｶﾞ", "다람쥐 헌 쳇바퀴에 타고파 가각",
  ]

  /// A store with conversations of several lengths, in all scripts, with edits, retractions,
  /// attachments, pending messages, and equal times.
  private func randomStore(_ random: inout SeededGenerator, _ seed: UInt64) throws -> MessageStore {
    let store = try memoryStore(packing: .random(seed))
    var number = 0
    for _ in 0..<Scale.count(debug: 8, release: 20) {
      try store.write(.relaxed) { chat in
        for _ in 0..<60 {
          number += 1
          let room = ConversationID(
            "room-\([0, 0, 0, 1, 2, number % 20].randomElement(using: &random) ?? 0)")
          let words = (Self.scripts.randomElement(using: &random) ?? "").split(separator: " ")
          let text = (0..<Int.random(in: 0...9, using: &random))
            .compactMap { _ in words.randomElement(using: &random) }.joined(separator: " ")
          let isPending = random.chance(3)
          let time = Timestamp(microseconds: Int64.random(in: 0..<400, using: &random) * 1000)
          var files: [MessageAttachment] = []
          if random.chance(5) {
            files = [
              MessageAttachment(
                id: "a", kind: random.chance(50) ? .image : .document,
                fileName: "Fóto \(words[0]).jpg")
            ]
          }
          try chat.insert(
            Message(
              id: MessageID("m-\(number)"), in: room,
              from: isPending || number % 7 == 0 ? "me" : "you",
              text: text.isEmpty && files.isEmpty ? "-" : text, localTime: time,
              serverTimestamp: isPending ? nil : time, attachments: files))
          if random.chance(4) {
            let old = MessageID("m-\(Int.random(in: 1...number, using: &random))")
            for index in 0..<20 {
              _ = try? chat.edit(
                old, in: ConversationID("room-\(index)"), text: "edited \(words[0])")
            }
          }
          if random.chance(2) {
            let old = MessageID("m-\(Int.random(in: 1...number, using: &random))")
            for index in 0..<20 { _ = try? chat.retract(old, in: ConversationID("room-\(index)")) }
          }
        }
        if random.chance(20) { _ = try? chat.setArchived(true, of: "room-5") }
        if random.chance(20) { _ = try? chat.setPinned(true, of: "room-6") }
      }
    }
    return store
  }

  @Test func whatTheModelFindsIsFoundAndNothingElse() throws {
    let seed = seeds(1)[0]
    var random = SeededGenerator(seed: seed)
    let store = try randomStore(&random, seed)
    let model = try SearchModel(store)
    for index in 0..<Scale.count(debug: 150, release: 1000) {
      let isStrict = random.chance(20)
      var term = model.part(&random)
      if random.chance(15) { term += "x" }
      guard let query = try? SearchQuery(term, isStrict: isStrict) else { continue }
      let work = random.chance(30) ? Int.random(in: 1...200, using: &random) : .max
      let count = Int.random(in: 1...20, using: &random)
      let found = try ids(store, query, count: count, work: work)
      #expect(
        Set(found) == model.ids(of: term, isStrict: isStrict), "seed \(seed), \(index): \(term)")
    }
  }

  private func rooms() throws -> MessageStore {
    let store = try memoryStore()
    try store.write { chat in
      for index in 0..<300 {
        let file = MessageAttachment(
          id: "f", kind: index % 20 == 0 ? .image : .audio, fileName: "Plan.pdf")
        try chat.insert(
          Message(
            id: MessageID("m\(index)"), in: ConversationID("r\(index % 3)"),
            from: index % 2 == 0 ? "me" : "you",
            text: index % 5 == 0 ? "needle \(index)" : "hay", serverTimestamp: time(Int64(index)),
            attachments: index % 10 == 0 ? [file] : []))
      }
    }
    return store
  }

  private func numbers(_ query: SearchQuery, _ store: MessageStore) throws -> [Int] {
    try ids(store, query).compactMap { Int($0.string.dropFirst()) }
  }

  @Test func aQueryIsNarrowed() throws {
    let store = try rooms()
    var query = try SearchQuery("Needle")
    let all = stride(from: 295, through: 0, by: -5).map { $0 }
    #expect(try numbers(query, store) == all)
    query.conversation = "r1"
    #expect(try numbers(query, store) == all.filter { $0 % 3 == 1 })
    query.sender = "you"
    #expect(try numbers(query, store) == all.filter { $0 % 3 == 1 && $0 % 2 == 1 })
    query.isFromLocalMember = true
    #expect(try numbers(query, store) == [])
    query.sender = "me"
    #expect(try numbers(query, store) == all.filter { $0 % 3 == 1 && $0 % 2 == 0 })
    (query.conversation, query.sender) = (nil, nil)
    query.times = time(20)...time(250)
    #expect(try numbers(query, store) == all.filter { $0 % 2 == 0 && 20...250 ~= $0 })
    query.attachmentKind = .image
    #expect(try numbers(query, store) == all.filter { $0 % 20 == 0 && 20...250 ~= $0 })
    query.conversation = "nowhere"
    #expect(try numbers(query, store) == [])
    query = try SearchQuery("needle")
    query.sender = "nobody"
    #expect(try numbers(query, store) == [])
  }

  @Test func eachTermMayBeInTheTextOrInAFileName() throws {
    let store = try rooms()
    let slice = try store.read { try $0.search(try SearchQuery("plan needle 90")) }
    let hit = try #require(slice.first)
    #expect(slice.count == 3 && hit.message.id == "m290")
    #expect(hit.textRanges == [0..<6, 8..<10])
    #expect(hit.fileNameRanges == [0: [0..<4]])
  }

  @Test func aSearchGoesOnWhereItWas() throws {
    let store = try rooms()
    let query = try SearchQuery("needle")
    let first = try store.read { try $0.search(query, count: 10) }
    #expect(first.last?.message.id == "m250")
    #expect(first.edge?.time == time(250))
    // What comes meanwhile is newer; what goes is not found; what was found is not found again.
    try store.write { chat in
      try chat.insert(
        Message(id: "new", in: "r9", from: "you", text: "needle", serverTimestamp: time(1000)))
      try chat.insert(
        Message(id: "old", in: "r8", from: "you", text: "needle", serverTimestamp: time(17)))
      try chat.delete("m245", in: "r2")
      try chat.receiveRetraction(of: "m240", in: "r0")
    }
    var edge = first.edge
    var rest: [String] = []
    while let next = edge {
      let slice = try store.read { try $0.search(from: next, count: 9) }
      rest += slice.map(\.message.id.string)
      edge = slice.edge
    }
    var expected = stride(from: 235, through: 0, by: -5).map { "m\($0)" }
    expected.insert("old", at: expected.firstIndex(of: "m15") ?? 0)
    #expect(rest == expected)
  }

  @Test func aConversationDeletedMeanwhileIsNotFound() throws {
    let store = try rooms()
    let first = try store.read { try $0.search(try SearchQuery("needle"), count: 3) }
    try store.write { chat in
      try chat.deleteConversation("r0")
      try chat.receiveConversationDeletion("r1", at: time(200))
    }
    let edge = try #require(first.edge)
    let rest = try store.read { try $0.search(from: edge, count: 100) }
    let numbers = rest.compactMap { Int($0.message.id.string.dropFirst()) }
    let expected = stride(from: 280, through: 0, by: -5).filter {
      $0 % 3 == 2 || $0 % 3 == 1 && $0 > 200
    }
    #expect(numbers == expected)
  }

  @Test func aPendingMessageThatComesDuringASearchIsNotFoundOutOfOrder() throws {
    let store = try memoryStore()
    try store.write { chat in
      for number in 1...3 {
        try chat.insert(message(MessageID("m\(number)"), at: Int64(number), text: "word"))
      }
    }
    let query = try SearchQuery("word")
    let first = try store.read { try $0.search(query, count: 1) }
    #expect(first.map(\.message.id) == ["m3"])
    try store.write { chat in
      try chat.putConversation("new", participants: ["ann"])
      try chat.insert(
        Message(id: "p", in: "new", from: "ann", text: "word", localTime: time(9), status: .pending)
      )
    }
    let edge = try #require(first.edge)
    let rest = try store.read { try $0.search(from: edge) }
    #expect(rest.map(\.message.id) == ["m2", "m1"])
  }

  @Test func aKeyWithoutAPlaceIsReported() throws {
    let directory = MemoryDirectory()
    let store = try memoryStore(directory)
    try store.write { chat in try chat.insert(message("m", at: 5, text: "word")) }
    try store.close()
    try directory.plant(in: "store") { source in
      // Before the message: the number of the conversation, and no kind of place.
      let key: [UInt8] = [0, 0, 0, 1, 0, 0]
      _ = try Bytes.with(key) { try BTree(source, TreeNumber(6)).insert($0, $0) }
    }
    let damaged = try memoryStore(directory)
    #expect {
      _ = try damaged.read { try $0.search(SearchQuery("absent")) }
    } throws: {
      if case StoreError.corruptRecord = $0 { true } else { false }
    }
  }

  @Test func aPendingMessageIsNotFoundTwiceWhenItIsAcknowledged() throws {
    let store = try memoryStore()
    try store.write { chat in
      try chat.insert(message("p", at: nil, from: "me", local: 500, text: "needle"))
      for index in 0..<5 {
        try chat.insert(message(MessageID("m\(index)"), at: Int64(index), text: "needle"))
      }
    }
    let first = try store.read { try $0.search(try SearchQuery("needle"), count: 1) }
    #expect(first.map(\.message.id) == ["p"])
    try store.write { chat in
      try chat.acknowledge("p", in: "room", serverTimestamp: time(2), sequence: nil)
    }
    let edge = try #require(first.edge)
    let rest = try store.read { try $0.search(from: edge) }
    #expect(rest.map(\.message.id) == ["m4", "m3", "m2", "m1", "m0"])
  }

  @Test func theWorkOfASliceIsLimited() throws {
    let store = try rooms()
    var edge: SearchEdge? = SearchEdge(try SearchQuery("nothing"))
    var total = 0
    while let next = edge {
      let slice = try store.read { try $0.search(from: next, maximumSearchedCount: 10) }
      #expect(slice.isEmpty)
      total += slice.searchedMessageCount
      edge = slice.edge
    }
    #expect(total == 300)
  }

  @Test func countsBelowOneAreRefused() throws {
    let store = try rooms()
    let query = try SearchQuery("needle")
    try store.read { snapshot in
      #expect(throws: StoreError.input(.count(0))) { try snapshot.search(query, count: 0) }
      #expect(throws: StoreError.input(.count(-1))) {
        try snapshot.search(query, maximumSearchedCount: -1)
      }
    }
    #expect(throws: StoreError.input(.count(0))) { try store.search(query, count: 0) }
  }

  @Test func aWriterFindsItsOwnChanges() throws {
    let store = try rooms()
    try store.write { chat in
      try chat.insert(message("w", at: 1, text: "needles"))
      let found = try chat.search(try SearchQuery("needles"))
      #expect(found.map(\.message.id) == ["w"])
    }
  }

  @Test func slicesComeOneAfterTheOther() async throws {
    let store = try rooms()
    var ids: [MessageID] = []
    for try await slice in try store.search(try SearchQuery("needle"), count: 25) {
      ids += slice.map(\.message.id)
    }
    #expect(ids == stride(from: 295, through: 0, by: -5).map { MessageID("m\($0)") })
  }

  @Test func aCancelledSearchEnds() async throws {
    let store = try rooms()
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      for try await _ in try store.search(try SearchQuery("nothing")) {}
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }
}
