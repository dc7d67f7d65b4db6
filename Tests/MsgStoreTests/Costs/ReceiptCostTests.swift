import MsgStore
import PageFile
import Testing

/// What is done for receipts costs the same however long the thread is.
struct ReceiptCostTests {
  private func options(_ maximumCount: Int = 50) -> StoreOptions {
    countedOptions { $0.outbox.receiptForm = .ids(maximumCount: maximumCount) }
  }

  private func thread(
    _ count: Int, as arrival: Arrival = .live, _ mark: (MessageStore) throws -> Void = { _ in }
  ) throws -> MemoryDirectory {
    try closedStore(options()) { store in
      try store.write { chat in
        for index in 0..<count {
          try chat.insert(
            message(MessageID("m\(100_000 + index)"), at: Int64(index * 10)), as: arrival)
        }
      }
      try mark(store)
    }
  }

  @Test func handingOutNamesReadsOneBatch() throws {
    func cost(_ count: Int) throws -> Int {
      let files = try thread(count) { store in _ = try store.write { try $0.markRead("room") } }
      let counted = try CountedStore(files, options())
      var items: [OutboxItem] = []
      let pages = try counted.pagesRead { store in
        for _ in 0..<3 {
          let item = try store.take()
          try store.done(item)
          items.append(item)
        }
      }
      let ids = items.compactMap { item in
        if case .receipt(let receipt) = item.task { receipt.ids } else { nil }
      }
      #expect(ids.map(\.count) == [50, 50, 50])
      #expect(ids.joined().map(\.string) == (0..<150).map { "m\(100_000 + $0)" })
      return pages
    }
    let few = try cost(200)
    let many = try cost(4000)
    #expect(many <= few + 24)
  }

  @Test func namesWithoutARangeAreHandedOutByBatches() throws {
    let ids = (0..<120).map { MessageID("m\(100_000 + $0)") }
    let files = try thread(120) { store in
      _ = try store.write { try $0.markRead(ids, in: "room") }
    }
    let store = try MessageStore(in: files, name: "store", options: options())
    var told: [[MessageID]] = []
    while let item = try store.next() {
      if case .receipt(let receipt) = item.task {
        #expect(receipt.upTo == nil)
        told.append(receipt.ids)
      }
      try store.done(item)
    }
    #expect(told.map(\.count) == [50, 50, 20] && told.flatMap(\.self) == ids)
    #expect(try store.pending(.read, as: .ids()).isEmpty)
    try store.expectSound()
  }

  /// A message that came late waits for the next mark; a thousand of them cost nothing meanwhile.
  @Test func lateMessagesThatAreNotDueYetAreNotRead() throws {
    func cost(_ count: Int) throws -> Int {
      let files = try closedStore(options()) { store in
        try store.write { chat in
          for index in 0..<20 {
            try chat.insert(message(MessageID("m\(index)"), at: Int64(1_000_000 + index)))
          }
          try chat.markRead("room")
          try chat.markDelivered("room")
          for index in 0..<count {
            try chat.insert(message(MessageID("late\(100_000 + index)"), at: Int64(index)))
          }
        }
        while let item = try store.next() { try store.done(item) }
      }
      let counted = try CountedStore(files, options())
      return try counted.pagesRead { store in
        #expect(try store.next() == nil)
        try store.write { chat in
          try chat.markRead(["late100100"], in: "room")
          try chat.markDelivered(["late100101"], in: "room")
          try chat.delete("late100102", in: "room")
        }
        #expect(try store.pendingRooms(.read) == ["room"])
      }
    }
    let few = try cost(150)
    let many = try cost(6000)
    #expect(many <= few + 24)
  }

  /// History needs no receipt: a short thread is read to know that there is nothing else.
  ///
  /// Of a long one only a part is, and the server is told more than it needs.
  @Test func markingHistoryAsDeliveredReadsABoundedPart() throws {
    func cost(_ count: Int) throws -> Int {
      let counted = try CountedStore(try thread(count, as: .history), options())
      let pages = try counted.pagesRead { store in
        let isChanged = try store.write { try $0.markDelivered("room") }
        #expect(isChanged)
      }
      let store = counted.store
      var told: [PendingReceipt] = []
      while let item = try store.next() {
        if case .receipt(let receipt) = item.task { told.append(receipt) }
        try store.done(item)
      }
      // Nothing but how far it goes.
      #expect(told.allSatisfy { $0.ids.isEmpty })
      #expect(told.map { $0.upTo?.id.string } == expected(count))
      #expect(try store.pending(.delivered, as: .ids()).isEmpty)
      try store.expectSound()
      return pages
    }
    func expected(_ count: Int) -> [String?] {
      count <= 10_000 ? [] : ["m109999", "m\(100_000 + count - 1)"]
    }
    _ = try cost(500)
    let few = try cost(10_400)
    let many = try cost(13_000)
    #expect(many <= few + 4)
  }
}
