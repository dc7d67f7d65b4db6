import MsgStore
import PageFile
import Testing

/// Every pair of states through a store, against the table of docs/message-states.md.
struct StatusPairsTests {
  /// Counts come from files, too.
  @Test func attemptsAreCountedNoFurtherThanCanBeStored() throws {
    let store = try memoryStore()
    var failed = message("m1", at: nil, from: "me", local: 5)
    failed.status = .failed
    failed.retryCount = .max
    try store.write { chat in
      try chat.insert(failed)
      for _ in 0..<3 {
        try chat.setStatus(.sending, of: "m1", in: "room")
        try chat.setStatus(.failed, of: "m1", in: "room", failure: SendFailure(.timeOut))
      }
    }
    let stored = try store.read { try $0.message("m1", in: "room") }
    #expect(stored?.retryCount == 1 << 60 && stored?.failure == SendFailure(.timeOut))
    try store.expectSound()
  }

  private let states: [MessageStatus] = [
    .pending, .held, .sending, .retrying, .failed, .sent, .delivered, .read,
  ]

  /// A message in a state.
  private func put(_ state: MessageStatus, _ chat: borrowing StoreWriter) throws {
    try chat.send(own("m", at: 1))
    if state != .pending { try chat.setStatus(state, of: "m", in: "room") }
    try #require(try chat.message("m", in: "room")?.status == state)
  }

  @Test func everyPairGoesAsTheTableSays() throws {
    for state in states {
      for event in states {
        let store = try memoryStore()
        try store.write { chat in
          try put(state, chat)
          let cause: StatusCause = event.isServerKnowledge ? .server : .client
          let expected = state.after(event, by: cause)
          let isChanged = try chat.setStatus(event, of: "m", in: "room")
          #expect(isChanged == (expected != nil), "\(state), \(event)")
          #expect(try chat.message("m", in: "room")?.status == expected ?? state)
          #expect(try !chat.setStatus(event, of: "m", in: "room"), "\(state), \(event) again")
        }
      }
    }
  }

  @Test func theServersKnowledgeBeatsFailedAndOnlyRises() throws {
    let store = try memoryStore()
    try store.write { chat in
      try put(.failed, chat)
      #expect(try chat.setStatus(.delivered, of: "m", in: "room"))
      #expect(try !chat.setStatus(.failed, of: "m", in: "room", failure: SendFailure(.invalid)))
      #expect(try !chat.setStatus(.sent, of: "m", in: "room"))
      #expect(try chat.setStatus(.read, of: "m", in: "room"))
      #expect(try chat.message("m", in: "room")?.failure == nil)
    }
  }

  @Test func deliveredAtAndReadAtAreTheEarliestKnown() throws {
    let store = try memoryStore()
    try store.write { chat in
      try chat.insert(message("m", at: 1))
      try chat.setStatus(.read, of: "m", in: "room", at: time(30))
      try chat.setStatus(.delivered, of: "m", in: "room", at: time(20))
      #expect(try chat.setStatus(.read, of: "m", in: "room", at: time(25)))
      #expect(try !chat.setStatus(.read, of: "m", in: "room", at: time(40)))
      #expect(try chat.setStatus(.delivered, of: "m", in: "room", at: time(10)))
    }
    let stored = try #require(try store.message("m"))
    #expect(stored.status == .read && stored.readAt == time(25) && stored.deliveredAt == time(10))
  }

  @Test func aMessageInSendingIsStillSoAfterARestart() throws {
    let clock = TestClock()
    let directory = MemoryDirectory()
    let store = try clock.store(directory)
    try store.write { chat in try put(.sending, chat) }
    try store.close()
    #expect(try clock.store(directory).message("m")?.status == .sending)
  }
}
