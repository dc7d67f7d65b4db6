import Foundation
import MsgStore
import Testing

/// UUIDs of the clients' making, and times of sending, delivery and reading with each message.
struct UUIDServerTests {
  private static let documents = [
    """
    [{"uuid": "018CC251-F400-7000-8000-000000000002", "chat": "ann+bob", "from": "bob",
      "text": "There?", "created": 1704067200100, "sent": 1704067200000},
     {"uuid": "018cc251-f400-7000-8000-000000000001", "chat": "ann+bob", "from": "bob",
      "text": "Hello", "created": 1704067199000, "sent": 1704067200000,
      "delivered": 1704067201000, "read": 1704067300000}]
    """,
    // The server has what was taken for failed here; the other's client has not told everything yet.
    """
    [{"uuid": "018cc251-f400-7000-8000-0000000000aa", "chat": "ann+bob", "from": "ann",
      "text": "Here!", "created": 1704067250000, "sent": 1704067260000,
      "delivered": 1704067270000},
     {"uuid": "018cc251-f400-7000-8000-000000000002", "chat": "ann+bob", "from": "bob",
      "text": "There?", "created": 1704067200100, "sent": 1704067200000,
      "delivered": 1704067201500}]
    """,
    """
    [{"uuid": "018cc251-f400-7000-8000-0000000000aa", "chat": "ann+bob", "from": "ann",
      "text": "Here!", "created": 1704067250000, "sent": 1704067260000,
      "delivered": 1704067280000, "read": 1704067290000},
     {"uuid": "018cc251-f400-7000-8000-0000000000bb", "chat": "ann+bob", "from": "ann",
      "text": "From my other phone", "created": 1704067400000, "sent": 1704067401000}]
    """,
  ]

  private let run = ShapeRun<[UUIDItem]>(
    localMember: "ann", documents: Self.documents,
    before: { chat in
      let id: MessageID = "018cc251-f400-7000-8000-0000000000aa"
      let composed = Timestamp(milliseconds: 1_704_067_250_000)
      try chat.putConversation("ann+bob", participants: ["ann", "bob"])
      try chat.send(
        Message(id: id, in: "ann+bob", from: "ann", text: "Here!", localTime: composed))
      try chat.setStatus(.sending, of: id, in: "ann+bob")
      try chat.setStatus(
        .failed, of: id, in: "ann+bob", failure: SendFailure(.timeOut, text: "no answer"))
    },
    take: { try $0.take($1, me: "ann") })

  @Test func everyFieldIsReadBack() throws {
    let store = try run.store()
    try store.read { chat in
      // Both were taken in the same millisecond: their ids decide.
      let thread = try chat.thread("ann+bob").tail(9)
      #expect(thread.map(\.text) == ["Hello", "There?", "Here!", "From my other phone"])

      let mine = thread[2]
      #expect(mine.status == .read && mine.syncStatus == .synced && mine.failure == nil)
      #expect(mine.localTime == Timestamp(milliseconds: 1_704_067_250_000))
      #expect(mine.serverTimestamp == Timestamp(milliseconds: 1_704_067_260_000))
      #expect(mine.deliveredAt == Timestamp(milliseconds: 1_704_067_270_000))
      #expect(mine.readAt == Timestamp(milliseconds: 1_704_067_290_000))
      #expect(thread[3].status == .sent && thread[3].deliveredAt == nil)

      // What I have read, on whatever device, is no more unread; the other is.
      #expect(try chat.conversation("ann+bob")?.unreadCount == 1)
      #expect(try chat.thread("ann+bob").firstUnread(count: 1).first?.text == "There?")
      let readers = try chat.readers(of: thread[0].id, in: "ann+bob")
      #expect(readers.map(\.member) == ["ann"] && readers.first?.isRead == true)
      #expect(readers.first?.deliveredAt == Timestamp(milliseconds: 1_704_067_201_000))
      #expect(readers.first?.readAt == Timestamp(milliseconds: 1_704_067_300_000))
    }
    try store.expectSound()
  }

  @Test func aFailedMessageStaysUntilTheServerKnowsBetter() throws {
    let store = try run.store(1)
    let failed = try #require(try store.read { try $0.thread("ann+bob").tail(1).first })
    #expect(failed.status == .failed && failed.failure?.kind == .timeOut)
    #expect(failed.syncStatus == .failed)
  }

  @Test func anyOrderEndsTheSame() throws { try run.expectSameInAnyOrder() }
  @Test func theDocumentHasThisCode() throws { try expectDocument(has: #filePath) }
}

// document begins
struct UUIDItem: Decodable {
  let uuid: String
  let chat: ConversationID
  let from: MemberID
  let text: String
  let created: Int64
  let sent: Int64
  let delivered: Int64?
  let read: Int64?
}

extension MessageStore {
  func take(_ items: [UUIDItem], me: MemberID) throws {
    try write(.relaxed) { chat in
      for item in items {
        // Ids are bytes: a UUID has to be written in one way.
        let id = MessageID(item.uuid.lowercased())
        let delivered = item.delivered.map { Timestamp(milliseconds: $0) }
        let read = item.read.map { Timestamp(milliseconds: $0) }
        var message = Message(
          id: id, in: item.chat, from: item.from, text: item.text,
          localTime: Timestamp(milliseconds: item.created),
          serverTimestamp: Timestamp(milliseconds: item.sent))
        if item.from == me {
          message.status = read != nil ? .read : delivered != nil ? .delivered : .sent
          message.deliveredAt = delivered
          message.readAt = read
        }
        try chat.insert(message)
        guard item.from != me else { continue }
        // These are the times at which I have received and read it.
        for (kind, time) in [(ReceiptKind.delivered, delivered), (.read, read)] where time != nil {
          try chat.receive(
            ReceivedReceipt(in: item.chat, of: me, kind, .messages([id]), time: time))
        }
      }
    }
  }
}
// document ends
