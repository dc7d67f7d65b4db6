import MsgStore
import PageFile
import Testing

/// The sentences of public values, as a log shows them.
struct DescriptionTests {
  @Test(
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999999Z"),
      (1_704_110_400_000_000, "2024-01-01T12:00:00.000Z"),
      (951_782_400_250_000, "2000-02-29T00:00:00.250Z"),
      (.max, "294247-01-10T04:00:54.775807Z"), (.min, "-290308-12-21T19:59:05.224192Z"),
    ] as [(Int64, String)])
  func timesAreShownInUTC(microseconds: Int64, text: String) {
    #expect("\(Timestamp(microseconds: microseconds))" == text)
  }

  @Test func valuesNameIdsAndNoTexts() throws {
    let secret = "meet me at noon"
    let store = try memoryStore()
    try store.write { chat in
      try chat.putConversation("room", participants: ["me", "you"], title: secret)
      try chat.insert(message("m1", at: 10, text: secret))
      try chat.send(message("m2", at: nil, from: "me", text: secret))
    }
    let chat = try store.read { chat in
      (
        slice: try chat.thread("room").tail(5), room: try chat.conversation("room"),
        list: try chat.conversations(count: 5),
        entry: try chat.outbox.entries(count: 5).entries.first
      )
    }
    let item = try store.write { try $0.outbox.next(for: "sync") }
    let room = try #require(chat.room)
    let texts = [
      "\(chat.slice)", "\(chat.slice[0])", "\(chat.slice[0].position)", "\(room)",
      "\(try #require(room.preview))", "\(chat.list)", "\(room.position)",
      "\(try #require(item))", "\(try #require(chat.entry))",
    ]
    for text in texts { #expect(!text.contains(secret) && !text.contains("MsgStore."), "\(text)") }
    #expect(texts[0] == #"2 messages ("m1" to "m2")"#)
    #expect(
      texts[1]
        == #"message "m1" in "room" from "you" (sent, 1970-01-01T00:00:00.000010Z, 15 bytes)"#)
    #expect(texts[2] == #"1970-01-01T00:00:00.000010Z, "m1""#)
  }

  @Test func smallValuesAreSentencesToo() async throws {
    let store = try memoryStore()
    try await store.write { chat in
      try chat.insert(message("m1", at: 10, text: "a secret"))
    }
    var first: LiveSlice?
    for try await value in store.thread("room").live(newest: 5) {
      first = value
      break
    }
    let texts = [
      "\(Delivery(status: .read, recipientCount: 3, deliveredCount: 3, readCount: 2))",
      "\(MemberReceipt(member: "ann", isRead: true, readAt: time(0)))",
      "\(Draft(text: "a secret", replyTo: "m1", time: time(0)))",
      "\(SendFailure(.timeOut, code: 504, text: "gateway"))",
      "\(SendFailure(.invalid))",
      "\(Reaction("👍", from: "ann", at: time(0)))",
      "\(PendingReceipt(conversation: "room", kind: .read, ids: ["a", "b"]))",
      "\(SyncPosition(key: "updates", bytes: [1, 2, 3]))",
      "\(LiveDifferences())",
      "\(try #require(first))",
    ]
    #expect(
      texts == [
        "read (3 delivered, 2 read, of 3)", #"read by "ann" 1970-01-01T00:00:00.000Z"#,
        #"draft (8 bytes, reply to "m1", 1970-01-01T00:00:00.000Z)"#, "timeOut 504: gateway",
        "invalid", #"👍 from "ann" (1970-01-01T00:00:00.000Z)"#, #"read in "room" (2 ids)"#,
        #"sync position "updates" (3 bytes)"#, "no differences",
        #"1 message ("m1"), 1 inserted"#,
      ])
  }

  @Test func changesAndWorkAreMadeForTests() throws {
    let position = try #require(
      try memoryStoreWithOne().read { try $0.thread("room").tail(1).first }
    ).position
    let change = try #require(MessageChange(from: nil, to: position))
    let changes = StoreChanges(
      conversations: ["room": ConversationChanges(messages: ["m1": change])],
      hasOutboxChanges: true)
    #expect(changes.conversations["room"]?.messages["m1"]?.kind == .inserted)
    #expect(changes.hasOutboxChanges && !changes.coversEverything)
    let item = OutboxItem(
      id: OutboxEntry.ID(rawValue: 1), token: .random(), conversation: "room",
      task: .retract("m1"), expiry: time(5), owner: "w")
    #expect(item.attempt == 1)
    let store = try memoryStore()
    #expect(try store.write { try !$0.outbox.fail(item, because: SendFailure(.other)) })
  }

  private func memoryStoreWithOne() throws -> MessageStore {
    let store = try memoryStore()
    try store.write { try $0.insert(message("m1", at: 10)) }
    return store
  }
}
