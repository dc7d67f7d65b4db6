import Foundation
import MsgStore
import Testing

/// Push ids, a client's and a server's time, a sequence for each conversation.
struct PushServerTests {
  private static let documents = [
    // A message before its conversation, one without what only the server knows.
    """
    {"cursor": "1", "messages": [
      {"id": "-Nn1aaaaaaaaaaaaaaa2", "room": "trip", "sender": "bob", "text": "And the tent?",
       "clientTime": 1704067300000, "serverTime": 1704067300450, "seq": 2,
       "replyTo": "-Nn1aaaaaaaaaaaaaaa1", "mentions": ["ann"]},
      {"id": "-Nn1aaaaaaaaaaaaaaa5", "room": "trip", "sender": "eve", "text": "Late",
       "clientTime": 1704067900000}]}
    """,
    """
    {"cursor": "2",
     "rooms": [{"id": "trip", "type": "group", "title": "Trip", "members": ["ann", "bob", "eve"],
                "createdBy": "bob", "createdAt": 1704060000000, "updatedAt": 1704067100000}],
     "messages": [
      {"id": "-Nn1aaaaaaaaaaaaaaa1", "room": "trip", "sender": "ann", "text": "Map: packed",
       "clientTime": 1704067200123, "serverTime": 1704067200456, "seq": 1},
      {"id": "-Nn1aaaaaaaaaaaaaaa1", "room": "trip", "sender": "ann", "text": "Map: packed",
       "clientTime": 1704067200123, "serverTime": 1704067200456, "seq": 1},
      {"id": "-Nn1aaaaaaaaaaaaaaa2", "room": "trip", "sender": "bob", "text": "And the tent?",
       "clientTime": 1704067300000, "serverTime": 1704067300450, "seq": 2},
      {"id": "", "room": "trip", "sender": "bob", "text": "malformed", "clientTime": 0}]}
    """,
    // A sender nobody has heard of; numbers 3 and 4 are missing; marks, one of them too early.
    """
    {"cursor": "3",
     "messages": [
      {"id": "-Nn1aaaaaaaaaaaaaaa5", "room": "trip", "sender": "eve", "text": "Late",
       "clientTime": 1704067900000, "serverTime": 1704067900800, "seq": 5},
      {"id": "-Nn1aaaaaaaaaaaaaaa6", "room": "trip", "sender": "mallory", "text": "Who am I?",
       "clientTime": 1704067950000, "serverTime": 1704067950001, "seq": 6}],
     "marks": [
      {"room": "trip", "member": "bob", "kind": "read", "upTo": "-Nn1aaaaaaaaaaaaaaa1",
       "at": 1704067250000},
      {"room": "trip", "member": "eve", "kind": "delivered", "upTo": "-Nn1aaaaaaaaaaaaaaa5",
       "at": 1704067260000},
      {"room": "trip", "member": "ann", "kind": "read", "upTo": "-Nn1aaaaaaaaaaaaaaa2",
       "at": 1704067400000}]}
    """,
    """
    {"cursor": "4",
     "rooms": [{"id": "trip", "type": "group", "members": ["ann", "bob"], "updatedAt": 1704069000000}],
     "messages": [
      {"id": "-Nn1aaaaaaaaaaaaaaa3", "room": "trip", "sender": "bob", "text": "Anyone?",
       "clientTime": 1704067500000, "serverTime": 1704067500100, "seq": 3},
      {"id": "-Nn1aaaaaaaaaaaaaaa5", "room": "trip", "sender": "eve", "removed": true,
       "serverTime": 1704067900800, "seq": 5}]}
    """,
  ]

  private let run = ShapeRun<PushUpdate>(
    localMember: "ann", documents: Self.documents,
    before: { chat in
      try chat.send(
        Message(id: "-Nn1aaaaaaaaaaaaaaa1", in: "trip", from: "ann", text: "Map: packed"))
    },
    take: { try $0.take($1) })

  @Test func everyFieldIsReadBack() throws {
    let store = try run.store()
    try store.read { chat in
      let room = try #require(try chat.conversation("trip"))
      #expect(room.kind == .group && room.title == nil && room.createdBy == "bob")
      #expect(room.participants == ["ann", "bob"])
      #expect(try chat.formerMembers(of: "trip") == ["eve"])
      #expect(room.createdAt == Timestamp(milliseconds: 1_704_060_000_000))
      // One of them was taken back, and is as unread as it was.
      #expect(room.unreadCount == 3 && room.messageCount == 5)
      #expect(try chat.gaps(in: "trip") == [4...4])

      let mine = try #require(try chat.message("-Nn1aaaaaaaaaaaaaaa1", in: "trip"))
      #expect(mine.text == "Map: packed" && mine.sender == "ann" && mine.sequence == 1)
      #expect(mine.serverTimestamp == Timestamp(milliseconds: 1_704_067_200_456))
      // The test's clock said when it was composed; the earliest time stays.
      #expect(mine.localTime == time(1_000_000) && mine.status == .read)
      let delivery = try #require(try chat.delivery(of: mine.id, in: "trip"))
      #expect(delivery.readCount == 1 && delivery.recipientCount == 1 && delivery.isReadByAll)
      let readers = try chat.readers(of: mine.id, in: "trip")
      #expect(readers.first { $0.member == "bob" }?.readAt?.microseconds == 1_704_067_250_000_000)
      #expect(readers.first { $0.member == "eve" }?.isRead == false)

      let answer = try #require(try chat.message("-Nn1aaaaaaaaaaaaaaa2", in: "trip"))
      #expect(answer.replyTo == mine.id && answer.mentions == ["ann"])
      #expect(answer.localTime == Timestamp(milliseconds: 1_704_067_300_000))
      let removed = try #require(try chat.message("-Nn1aaaaaaaaaaaaaaa5", in: "trip"))
      #expect(removed.isRetracted && removed.text == "" && removed.sequence == 5)
      #expect(try chat.message("-Nn1aaaaaaaaaaaaaaa6", in: "trip")?.sender == "mallory")
      #expect(try chat.syncPosition(for: "server") == Array("4".utf8))
    }
    try store.expectSound()
  }

  @Test func whatHasNoServerTimeYetWaitsAtTheEnd() throws {
    let store = try run.store(1)
    let last = try #require(try store.read { try $0.thread("trip").tail(1).first })
    #expect(last.id == "-Nn1aaaaaaaaaaaaaaa5" && last.status == .sent)
    #expect(last.serverTimestamp == nil && last.syncStatus == .synced)
  }

  @Test func anyOrderEndsTheSame() throws { try run.expectSameInAnyOrder() }
  @Test func theDocumentHasThisCode() throws { try expectDocument(has: #filePath) }
}

// document begins
struct PushUpdate: Decodable {
  struct Room: Decodable {
    let id: ConversationID
    let type: String
    let title: String?
    let members: [MemberID]
    let createdBy: MemberID?
    let createdAt: Int64?
    let updatedAt: Int64
  }
  struct Item: Decodable {
    let id: MessageID
    let room: ConversationID
    let sender: MemberID
    let text: String?
    let clientTime: Int64?
    let serverTime: Int64?
    let seq: Int64?
    let replyTo: MessageID?
    let mentions: [MemberID]?
    let removed: Bool?
  }
  struct Mark: Decodable {
    let room: ConversationID
    let member: MemberID
    let kind: String
    let upTo: MessageID
    let at: Int64
  }
  let cursor: String
  let rooms: [Room]?
  let messages: [Item]?
  let marks: [Mark]?
}

extension MessageStore {
  func take(_ update: PushUpdate) throws {
    try write(.relaxed) { chat in
      for room in update.rooms ?? [] { try chat.receive(ReceivedConversation(room)) }
      let batch = try chat.insertSkippingInvalid(
        contentsOf: (update.messages ?? []).map(Message.init))
      for refusal in batch.refusals { print("message \(refusal.index): \(refusal.reason)") }
      for mark in update.marks ?? [] {
        try chat.receive(
          ReceivedReceipt(
            in: mark.room, of: mark.member, mark.kind == "read" ? .read : .delivered,
            .upTo(mark.upTo), time: Timestamp(milliseconds: mark.at)))
      }
      try chat.setSyncPosition(Array(update.cursor.utf8), for: "server")
    }
  }
}

extension ReceivedConversation {
  fileprivate init(_ room: PushUpdate.Room) {
    self.init(room.id, at: Timestamp(milliseconds: room.updatedAt))
    kind = room.type == "direct" ? .direct : .group
    members = room.members.map { Member($0) }
    hasAllMembers = true
    title = Text(room.title)
    createdBy = room.createdBy
    createdAt = room.createdAt.map { Timestamp(milliseconds: $0) }
  }
}

extension Message {
  fileprivate init(_ item: PushUpdate.Item) {
    self.init(
      id: item.id, in: item.room, from: item.sender, text: item.text ?? "",
      localTime: item.clientTime.map { Timestamp(milliseconds: $0) },
      serverTimestamp: item.serverTime.map { Timestamp(milliseconds: $0) },
      sequence: item.seq, status: .sent, replyTo: item.replyTo)
    mentions = item.mentions ?? []
    isRetracted = item.removed ?? false
  }
}
// document ends
