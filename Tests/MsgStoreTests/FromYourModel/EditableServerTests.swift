import Foundation
import MsgStore
import Testing

/// Messages that are edited, with every earlier text, and with attachments.
struct EditableServerTests {
  private static let documents = [
    // An edit and a removal before their messages.
    """
    {"edits": [{"channel": "news", "message": "m2", "content": "Meet at 8", "at": 1704070000.25}],
     "removals": [{"channel": "news", "message": "m3", "at": 1704071000}]}
    """,
    """
    {"messages": [
      {"id": "m1", "channel": "news", "author": "bob", "content": "third",
       "sentAt": 1704067200.5, "editedAt": 1704067400,
       "history": [{"content": "first"}, {"content": "second", "at": 1704067300}],
       "attachments": [
        {"id": "a1", "type": "image/jpeg", "name": "Ö 1/2.jpg", "url": "files/a1",
         "thumbnail": "files/a1/small", "size": 123456, "width": 800, "height": 600,
         "sha256": "AAEC"},
        {"id": "a2", "type": "audio/ogg", "url": "files/a2", "seconds": 2.5}]},
      {"id": "m2", "channel": "news", "author": "carl", "content": "Meet at 7",
       "sentAt": 1704067500, "mentions": ["ann"]},
      {"id": "m3", "channel": "news", "author": "carl", "content": "oops", "sentAt": 1704067600,
       "attachments": [{"id": "a3", "type": "application/pdf", "name": "secret.pdf"}]}]}
    """,
    // The same messages as another request gives them: less of one, more of the other.
    """
    {"messages": [
      {"id": "m1", "channel": "news", "author": "bob", "content": "second",
       "sentAt": 1704067200.5, "editedAt": 1704067300, "history": [{"content": "first"}],
       "attachments": [{"id": "a2", "type": "audio/ogg", "name": "note.ogg", "size": 4000}]},
      {"id": "m2", "channel": "news", "author": "carl", "content": "Meet at 8",
       "sentAt": 1704067500, "editedAt": 1704070000.25, "history": [{"content": "Meet at 7"}]}]}
    """,
  ]

  private let run = ShapeRun<EditableUpdate>(
    localMember: "ann", documents: Self.documents, take: { try $0.take($1) })

  @Test func everyFieldIsReadBack() throws {
    let store = try run.store()
    try store.read { chat in
      let first = try #require(try chat.message("m1", in: "news"))
      #expect(first.text == "third" && first.isEdited && first.sender == "bob")
      #expect(first.serverTimestamp == time(1_704_067_200_500_000))
      #expect(first.editedAt == Timestamp(seconds: 1_704_067_400))
      let history = try chat.history(of: "m1", in: "news")
      #expect(history.map(\.text) == ["first", "second"])
      #expect(history.map(\.time) == [nil, Timestamp(seconds: 1_704_067_300)])
      #expect(first.attachments.map(\.id) == ["a1", "a2"])
      let image = first.attachments[0]
      #expect(image.kind == .image && image.fileName == "Ö 1/2.jpg" && image.byteCount == 123_456)
      #expect(image.remoteURL == "files/a1" && image.thumbnailURL == "files/a1/small")
      #expect(image.mimeType == "image/jpeg" && image.width == 800 && image.height == 600)
      #expect(image.contentHash == [0, 1, 2])
      let note = first.attachments[1]
      #expect(note.kind == .audio && note.durationMicroseconds == 2_500_000)
      #expect(note.fileName == "note.ogg" && note.byteCount == 4000 && note.remoteURL == "files/a2")

      let second = try #require(try chat.message("m2", in: "news"))
      #expect(second.text == "Meet at 8" && second.editedAt == time(1_704_070_000_250_000))
      #expect(try chat.history(of: "m2", in: "news").map(\.text) == ["Meet at 7"])
      // Mentions belong to a text, and the edit names nobody.
      #expect(second.mentions == [])

      let third = try #require(try chat.message("m3", in: "news"))
      #expect(third.isRetracted && third.text == "" && third.attachments == [])
      #expect(third.retractedAt == Timestamp(seconds: 1_704_071_000) && third.sender == "carl")
      #expect(try chat.conversation("news")?.preview?.isRetracted == true)
    }
    try store.expectSound()
  }

  @Test func theListShowsWhatKindOfAttachmentCameLast() throws {
    let store = try memoryStore(localMember: "ann")
    try store.write { chat in
      var photo = Message(in: "news", from: "bob", text: "", serverTimestamp: time(1))
      photo.attachments = [MessageAttachment(id: "a", kind: .image, fileName: "p.jpg")]
      try chat.insert(photo)
    }
    let preview = try store.read { try $0.conversation("news")?.preview?.attachment }
    #expect(preview?.kind == .image && preview?.fileName == "p.jpg")
  }

  @Test func anyOrderEndsTheSame() throws { try run.expectSameInAnyOrder() }
  @Test func theDocumentHasThisCode() throws { try expectDocument(has: #filePath) }
}

// document begins
struct EditableUpdate: Decodable {
  struct Version: Decodable {
    let content: String
    let at: Double?
  }
  struct File: Decodable {
    let id: String
    let type: String
    let name: String?
    let url: String?
    let thumbnail: String?
    let size: Int64?
    let width: Int32?
    let height: Int32?
    let seconds: Double?
    let sha256: Data?
  }
  struct Item: Decodable {
    let id: MessageID
    let channel: ConversationID
    let author: MemberID
    let content: String
    let sentAt: Double
    let editedAt: Double?
    let mentions: [MemberID]?
    let history: [Version]?
    let attachments: [File]?
  }
  struct Edit: Decodable {
    let channel: ConversationID
    let message: MessageID
    let content: String
    let at: Double
  }
  struct Removal: Decodable {
    let channel: ConversationID
    let message: MessageID
    let at: Double?
  }
  let messages: [Item]?
  let edits: [Edit]?
  let removals: [Removal]?
}

extension MessageStore {
  func take(_ update: EditableUpdate) throws {
    try write(.relaxed) { chat in
      for item in update.messages ?? [] {
        try chat.insert(Message(item))
        for version in item.history ?? [] {
          if let time = Timestamp(seconds: version.at) {
            try chat.receiveEdit(of: item.id, in: item.channel, text: version.content, at: time)
          } else {
            var original = Message(item)
            (original.text, original.editedAt, original.mentions) = (version.content, nil, [])
            try chat.insert(original)
          }
        }
      }
      for edit in update.edits ?? [] {
        guard let time = Timestamp(seconds: edit.at) else { continue }
        try chat.receiveEdit(of: edit.message, in: edit.channel, text: edit.content, at: time)
      }
      for removal in update.removals ?? [] {
        try chat.receiveRetraction(
          of: removal.message, in: removal.channel, at: Timestamp(seconds: removal.at))
      }
    }
  }
}

extension Message {
  fileprivate init(_ item: EditableUpdate.Item) {
    self.init(
      id: item.id, in: item.channel, from: item.author, text: item.content,
      serverTimestamp: Timestamp(seconds: item.sentAt), status: .sent)
    editedAt = Timestamp(seconds: item.editedAt)
    mentions = item.mentions ?? []
    attachments = (item.attachments ?? []).map(MessageAttachment.init)
  }
}

extension MessageAttachment {
  fileprivate init(_ file: EditableUpdate.File) {
    let kinds: [Substring: AttachmentKind] = ["image": .image, "video": .video, "audio": .audio]
    self.init(
      id: file.id, kind: kinds[file.type.prefix { $0 != "/" }] ?? .document, remoteURL: file.url,
      thumbnailURL: file.thumbnail, fileName: file.name, mimeType: file.type,
      contentHash: file.sha256.map { Array($0) }, byteCount: file.size,
      durationMicroseconds: file.seconds.map { Int64($0 * 1_000_000) }, width: file.width,
      height: file.height)
  }
}

extension Timestamp {
  fileprivate init?(seconds: Double?) {
    guard let seconds else { return nil }
    self.init(seconds: seconds)
  }
}
// document ends
