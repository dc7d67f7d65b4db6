import MsgStore
import PageFile
import Testing

/// The sentences of public values, as a log shows them.
@Suite struct DescriptionTests {
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
}
