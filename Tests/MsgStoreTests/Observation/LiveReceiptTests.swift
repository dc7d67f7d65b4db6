#if DEBUG
  import PageFile
  import Testing

  @testable import MsgStore

  /// What a live thread that counts receipts reads again, and where.
  struct LiveReceiptTests {
    private func store(memberCount: Int) throws -> MessageStore {
      let store = try memoryStore()
      try store.write { chat in
        var room = ReceivedConversation("room", at: time(0))
        room.members = [.init("me")] + (0..<memberCount).map { .init(MemberID("p\($0)")) }
        _ = try chat.receive(room)
        for number in 1...3 as ClosedRange<Int64> {
          try chat.insert(message(MessageID("m\(number)"), at: number, number, from: "me"))
        }
        try chat.insert(message("theirs", at: 4, 4, from: "p0"))
      }
      return store
    }

    /// Returns whether a thread that counts receipts reads again after an act.
    private func isConcerned(
      _ store: MessageStore, by act: (borrowing StoreWriter) throws -> Void
    ) throws -> Bool {
      var request = LiveThreadRequest(
        conversation: "room", pin: .end, count: 9, countsReceipts: true)
      let content = try store.read { try request.read($0) }
      let changes = store.changes.makeAsyncIterator()
      try store.write { try act($0) }
      let told = try #require(changes.nextIfThere())
      return request.isConcerned(by: told, showing: content)
    }

    @Test func aDraftOrATitleDoesNotConcernReceipts() throws {
      let store = try store(memberCount: 5)
      #expect(try !isConcerned(store) { _ = try $0.setDraft("d", in: "room") })
      #expect(try !isConcerned(store) { _ = try $0.setTitle("t", of: "room") })
      #expect(try !isConcerned(store) { _ = try $0.setPinned(true, of: "room") })
    }

    @Test func marksAndMembersConcernReceipts() throws {
      let store = try store(memberCount: 5)
      #expect(try isConcerned(store) { _ = try $0.markRead("room") })
      #expect(try isConcerned(store) { try $0.receive(receipt("p1", .read, upTo: "m2")) })
      #expect(try isConcerned(store) { try $0.receive(receipt("p1", .read, ["m3"])) })
      #expect(try isConcerned(store) { try $0.addParticipants(["new"], to: "room") })
      #expect(try isConcerned(store) { try $0.removeParticipants(["p2"], from: "room") })
    }

    @Test(arguments: [(5, false), (300, true)])
    func receiptsOfALargeGroupAreNotCountedOnTheCallersThread(
      memberCount: Int, isSlow: Bool
    ) throws {
      let store = try store(memberCount: memberCount)
      var request = LiveThreadRequest(
        conversation: "room", pin: .end, count: 9, countsReceipts: true)
      let content = try store.read { try request.read($0) }
      #expect(content.deliveries.first??.recipientCount == memberCount)
      #expect(request.isSlow(showing: content) == isSlow)
    }

    @Test func receiptsAreCountedMemberByMemberAsForEachMessage() throws {
      let store = try store(memberCount: 9)
      try store.write { chat in
        try chat.receive(receipt("p0", .read, upTo: "m1"))
        try chat.receive(receipt("p1", .delivered, upTo: "m2"))
        try chat.receive(receipt("p1", .read, ["m3", "m1"]))
        try chat.receive(receipt("p2", .read, upTo: "m3"))
        try chat.receive(receipt("p2", .delivered, ["m1"]))
        try chat.receive(receipt("p3", .delivered, ["m3"]))
        try chat.receive(receipt("stranger", .read, ["m3"]))
      }
      try store.read { chat in
        let slice = try chat.thread("room").tail(9)
        let deliveries = try chat.deliveries(of: slice)
        #expect(deliveries.count == 4 && deliveries[3] == nil)
        for (message, delivery) in zip(slice, deliveries).prefix(3) {
          #expect(try delivery == chat.delivery(of: message.id, in: "room"))
        }
        #expect(deliveries.prefix(3).map { $0?.readCount } == [3, 1, 2])
        #expect(deliveries.prefix(3).map { $0?.deliveredCount } == [3, 2, 3])
      }
    }
  }
#endif
