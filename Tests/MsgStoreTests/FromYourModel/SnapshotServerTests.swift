import Foundation
import MsgStore
import Testing

/// Whole documents, whole state again and again, arrays of who has a message and who has read it.
struct SnapshotServerTests {
  private static let documents = [
    """
    {"_id": "climbing", "name": "Climbing", "image": "img/7", "isGroup": true, "version": 1,
     "updatedAt": "2024-01-01T12:00:00Z", "admin": "bob",
     "participants": ["ann", "bob", "eve"], "mutedBy": ["ann"],
     "messages": [
      {"_id": "665f01", "from": "bob", "body": "Sunday?", "createdAt": "2024-01-01T11:00:00Z",
       "deliveredTo": ["ann"], "readBy": []},
      {"_id": "665f02", "from": "ann", "body": "Yes!", "createdAt": "2024-01-01T11:00:00Z",
       "deliveredTo": ["bob"], "readBy": ["ann"], "inReplyTo": "665f01",
       "reactions": [{"by": "bob", "emoji": "👍"}]},
      {"_id": "665f03", "from": "eve", "body": "wrong room", "createdAt": "2024-01-01T11:30:00Z"}]}
    """,
    // A reaction and a message are gone, a member has left, more have read.
    """
    {"_id": "climbing", "name": "Climbing", "isGroup": true, "version": 2,
     "updatedAt": "2024-01-01T13:00:00Z", "admin": "bob",
     "participants": ["ann", "bob"], "mutedBy": [],
     "messages": [
      {"_id": "665f01", "from": "bob", "body": "Sunday?", "createdAt": "2024-01-01T11:00:00Z",
       "deliveredTo": ["ann", "eve"], "readBy": ["ann", "eve"]},
      {"_id": "665f02", "from": "ann", "body": "Yes!", "createdAt": "2024-01-01T11:00:00Z",
       "deliveredTo": ["bob", "eve"], "readBy": ["ann", "bob"], "inReplyTo": "665f01",
       "reactions": [{"by": "eve", "emoji": "🎉"}]},
      {"_id": "665f04", "from": "zoe", "body": "I was never in", "createdAt": "2024-01-01T12:30:00Z"}]}
    """,
  ]

  private let run = ShapeRun<SnapshotDocument>(
    localMember: "ann", documents: Self.documents, canBeSplit: false,
    before: { chat in
      try chat.insert(Message(id: "queued", in: "climbing", from: "ann", text: "not sent yet"))
    },
    take: { try $0.take($1) })

  @Test func everyFieldIsReadBack() throws {
    let store = try run.store()
    try store.read { chat in
      let room = try #require(try chat.conversation("climbing"))
      #expect(room.title == "Climbing" && room.avatar == nil && room.createdBy == "bob")
      #expect(room.kind == .group && !room.isMuted)
      #expect(try chat.formerMembers(of: "climbing") == ["eve"])
      #expect(room.unreadCount == 1)
      // What was absent is gone, but for what waits to be sent; equal times stand by their ids.
      let thread = try chat.thread("climbing").tail(9)
      #expect(thread.ids == ["665f01", "665f02", "665f04", "queued"])

      let mine = try #require(try chat.message("665f02", in: "climbing"))
      #expect(mine.replyTo == "665f01" && mine.status == .read && mine.text == "Yes!")
      #expect(mine.reactions.map(\.emoji) == ["🎉"] && mine.reactions.map(\.member) == ["eve"])
      let readers = try chat.readers(of: "665f02", in: "climbing")
      #expect(Set(readers.filter(\.isRead).map(\.member)) == ["bob"])
      #expect(Set(readers.map(\.member)) == ["bob", "eve"])
      #expect(readers.allSatisfy { $0.readAt == nil })
      let theirs = try chat.readers(of: "665f01", in: "climbing")
      #expect(Set(theirs.filter(\.isRead).map(\.member)) == ["ann", "eve"])
    }
    try store.expectSound()
  }

  @Test func whatIsReadHereIsToldByNames() throws {
    let store = try run.store()
    try store.write { try $0.markRead("climbing") }
    let told = try store.read { try $0.pendingReceipts(in: "climbing", .read, as: .ids()) }
    #expect(told.map(\.ids) == [["665f04"]])
    try store.write { chat in for receipt in told { try chat.confirm(receipt) } }
    #expect(try store.read { try $0.pendingReceipts(in: "climbing", .read, as: .ids()) } == [])
  }

  @Test func anyOrderEndsTheSame() throws { try run.expectSameInAnyOrder() }
  @Test func theDocumentHasThisCode() throws { try expectDocument(has: #filePath) }
}

// document begins
struct SnapshotDocument: Decodable {
  struct Item: Decodable {
    struct Response: Decodable {
      let by: MemberID
      let emoji: String
    }
    let _id: MessageID
    let from: MemberID
    let body: String
    let createdAt: String
    let inReplyTo: MessageID?
    let deliveredTo: [MemberID]?
    let readBy: [MemberID]?
    let reactions: [Response]?
  }
  let _id: ConversationID
  let name: String?
  let image: String?
  let isGroup: Bool
  let version: UInt8
  let updatedAt: String
  let admin: MemberID
  let participants: [MemberID]
  let mutedBy: [MemberID]
  let messages: [Item]
}

extension MessageStore {
  func take(_ document: SnapshotDocument) throws {
    let room = document._id
    let version = [document.version]
    let now = try Timestamp(iso8601: document.updatedAt)
    try write(.relaxed) { chat in
      try chat.receive(ReceivedConversation(document, for: "ann", at: now))
      // What is absent is gone: so an older state must not follow a newer one.
      let known = try chat.syncPosition(for: "version", in: room) ?? []
      guard known.lexicographicallyPrecedes(version) else { return }
      try chat.setSyncPosition(version, for: "version", in: room)
      let messages = try document.messages.map { try Message($0, in: room) }
      try chat.reconcile(messages, in: room, within: .all)
      for item in document.messages { try chat.takeReactions(item, in: room, at: now) }
      for member in Set(document.messages.flatMap { ($0.deliveredTo ?? []) + ($0.readBy ?? []) }) {
        let read = document.messages.filter { $0.readBy?.contains(member) ?? false }
        let received = document.messages.filter { $0.deliveredTo?.contains(member) ?? false }
        try chat.receive(
          ReceivedReceipt(in: room, of: member, .read, .messages(read.map(\._id))))
        try chat.receive(
          ReceivedReceipt(in: room, of: member, .delivered, .messages(received.map(\._id))))
      }
    }
  }
}

extension StoreWriter {
  /// A document says who has reacted, but neither when nor who does not any more.
  fileprivate func takeReactions(
    _ item: SnapshotDocument.Item, in room: ConversationID, at now: Timestamp
  ) throws {
    let stored = try reactions(to: item._id, in: room)
    let told = (item.reactions ?? []).map { Reaction($0.emoji, from: $0.by, at: now) }
    func has(_ all: [Reaction], _ one: Reaction) -> Bool {
      all.contains { $0.member == one.member && $0.emoji == one.emoji }
    }
    for old in stored where !has(told, old) {
      let removal = Reaction(old.emoji, from: old.member, at: now)
      try receive(removal, isRemoved: true, to: item._id, in: room)
    }
    for new in told where !has(stored, new) { try receive(new, to: item._id, in: room) }
  }
}

extension Message {
  fileprivate init(_ item: SnapshotDocument.Item, in room: ConversationID) throws {
    self.init(
      id: item._id, in: room, from: item.from, text: item.body,
      serverTimestamp: try Timestamp(iso8601: item.createdAt), replyTo: item.inReplyTo)
  }
}

extension ReceivedConversation {
  fileprivate init(_ document: SnapshotDocument, for me: MemberID, at time: Timestamp) {
    self.init(document._id, at: time)
    kind = document.isGroup ? .group : .direct
    members = document.participants.map { Member($0) }
    hasAllMembers = true
    title = Text(document.name)
    avatar = Text(document.image)
    createdBy = document.admin
    isMuted = document.mutedBy.contains(me)
  }
}

extension Timestamp {
  fileprivate init(iso8601 text: String) throws {
    let date = try Date(text, strategy: .iso8601)
    self.init(microseconds: Int64((date.timeIntervalSince1970 * 1_000_000).rounded()))
  }
}
// document ends
