import MsgStore
import PageFile
import Testing

/// What belongs to one closure cannot be used after it: not by its type where that can be said, else
/// it is refused.
struct EndedTransactionTests {
  struct Stop: Error {}

  private func filled() throws -> MessageStore {
    let store = try TestClock().outboxStore()
    try store.write { chat in
      for index in 0..<50 { try chat.send(own(MessageID("m\(index)"), in: "room")) }
    }
    return store
  }

  private func expectEnded<R>(
    _ location: SourceLocation = #_sourceLocation, _ body: () throws -> R
  ) {
    #expect(throws: StoreError.transactionEnded, sourceLocation: location) { _ = try body() }
  }

  private func expectRefused(_ kept: borrowing OutboxWriter, _ item: OutboxItem) {
    let id = item.id
    expectEnded { try kept.next(for: "w") }
    expectEnded { try kept.renew(item) }
    expectEnded { try kept.complete(item) }
    expectEnded { try kept.fail(item, because: SendFailure(.timeOut)) }
    expectEnded { try kept.returnWork(item) }
    expectEnded { try kept.reclaimWork(of: "worker") }
    expectEnded { try kept.enter("late", payload: [1, 2, 3]) }
    expectEnded { try kept.setHoldsNewEntries(true) }
    expectEnded { try kept.hold(id) }
    expectEnded { try kept.release(id) }
    expectEnded { try kept.releaseAll() }
    expectEnded { try kept.retry(id) }
    expectEnded { try kept.retryAll() }
    expectEnded { try kept.releaseAndRetryAll() }
    expectEnded { try kept.setText("x", of: id) }
    expectEnded { try kept.remove(id) }
    expectReadsRefused(kept)
  }

  private func reading(_ chat: borrowing some StoreReading & ~Copyable) -> OutboxReader {
    chat.outbox
  }

  private func expectReadsRefused(_ kept: borrowing some OutboxReading & ~Copyable) {
    expectEnded { try kept.counts() }
    expectEnded { try kept.holdsNewEntries }
    expectEnded { try kept.nextTime }
    expectEnded { try kept.entries(count: 5) }
    expectEnded { try kept.entry(.init(rawValue: 1)) }
  }

  private func expectRefused(_ kept: borrowing MessageThread, _ position: MessagePosition) {
    expectEnded { try kept.tail(5) }
    expectEnded { try kept.before(position, count: 5) }
    expectEnded { try kept.after(position, count: 5) }
    expectEnded { try kept.around("m1", count: 5) }
    expectEnded { try kept.at(time(0), count: 5) }
    expectEnded { try kept.firstUnread(count: 5) }
  }

  @Test func anOutboxThatWasKeptChangesNothing() throws {
    let store = try filled()
    let item = try store.take()
    let before = try store.entries()
    var isRolledBack = false
    repeat {
      var kept: OutboxWriter?
      var reader: OutboxReader?
      do {
        try store.write { chat in
          kept = chat.outbox
          reader = reading(chat)
          if isRolledBack { throw Stop() }
        }
      } catch is Stop {}
      for _ in 0..<3 {
        guard case let outbox? = kept.take(), case let entries? = reader.take() else { break }
        expectRefused(outbox, item)
        expectReadsRefused(entries)
        try store.write { try $0.setSyncPosition([1], for: "x") }
        expectRefused(outbox, item)
        kept = consume outbox
        reader = consume entries
      }
      isRolledBack.toggle()
    } while isRolledBack
    #expect(try store.entries() == before)
    try store.expectSound()
  }

  @Test func whatWasKeptOfAReadIsRefused() throws {
    let store = try filled()
    let position = try #require(try store.message("m1")).position
    var outbox: OutboxReader?
    var thread: MessageThread?
    var written: MessageThread?
    try store.read { chat in
      outbox = chat.outbox
      thread = try chat.thread("room")
      #expect(try chat.thread("room").tail(5).count == 5)
    }
    try store.write { chat in written = try chat.thread("room") }
    guard case let outbox? = outbox.take(), case let thread? = thread.take(),
      case let written? = written.take()
    else { return }
    expectReadsRefused(outbox)
    expectRefused(thread, position)
    expectRefused(written, position)
    try store.write { try $0.outbox.setHoldsNewEntries(true) }
    expectReadsRefused(outbox)
    expectRefused(thread, position)
    expectRefused(written, position)
  }

  @Test func valuesOutliveTheirTransaction() throws {
    let store = try filled()
    let slice = try store.read { try $0.thread("room").tail(5) }
    try store.write { _ = try $0.send(own("later", in: "room")) }
    #expect(slice.ids == ["m45", "m46", "m47", "m48", "m49"])
    #expect(slice.map(\.text) == Array(repeating: "mine", count: 5))
  }
}
