import Foundation
import MsgStore
import Testing

/// What docs/from-your-model.md says of each shape holds for whatever order its documents come in.
struct ShapeRun<Document: Decodable> {
  let localMember: MemberID
  let documents: [String]
  /// Whether parts of a document say less, and not something else.
  var canBeSplit = true
  /// What was done here before anything came.
  var before: (borrowing StoreWriter) throws -> Void = { _ in }
  let take: (MessageStore, Document) throws -> Void

  /// A store that got the first documents, or all.
  func store(_ count: Int? = nil) throws -> MessageStore {
    try store(documents.prefix(count ?? documents.count).map { Data($0.utf8) })
  }

  private func store(_ documents: [Data]) throws -> MessageStore {
    let store = try memoryStore(localMember: localMember)
    try store.write { try before($0) }
    for document in documents {
      try take(store, try JSONDecoder().decode(Document.self, from: document))
    }
    return store
  }

  /// Again, backwards, in pieces, and in random orders with repetition, the same follows.
  func expectSameInAnyOrder(_ location: SourceLocation = #_sourceLocation) throws {
    let expected = try store().shown()
    let whole = documents.map { Data($0.utf8) }
    let pieces = try canBeSplit ? whole.flatMap { try Self.pieces(of: $0) } : whole
    var orders = [whole + whole, whole.reversed(), pieces.reversed()]
    for seed in seeds(10) {
      var generator = SeededGenerator(seed: seed)
      let more = pieces.filter { _ in generator.chance(50) }
      orders.append((pieces + more).shuffled(using: &generator))
    }
    for order in orders {
      let store = try store(order)
      try expectSame(try store.shown(), expected, order, location)
      try store.expectSound(location)
    }
  }

  private func expectSame(
    _ shown: [String], _ expected: [String], _ order: [Data], _ location: SourceLocation
  ) throws {
    let difference = shown.difference(from: expected)
    let documents = order.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")
    #expect(difference.isEmpty, "\(difference)\n\(documents)", sourceLocation: location)
  }

  /// A document as several, each with one element of each list of objects in it.
  private static func pieces(of document: Data) throws -> [Data] {
    try pieces(of: JSONSerialization.jsonObject(with: document)).map {
      try JSONSerialization.data(withJSONObject: $0, options: .sortedKeys)
    }
  }

  private static func pieces(of value: Any) -> [Any] {
    if let list = value as? [[String: Any]] {
      var pieces: [Any] = []
      for object in list { pieces += Self.pieces(of: object as Any).map { [$0] } }
      return pieces
    }
    guard let object = value as? [String: Any] else { return [value] }
    let rest = object.filter { !($0.value is [[String: Any]]) }
    var pieces: [Any] = rest.count == object.count ? [object] : []
    for (key, list) in object where list is [[String: Any]] {
      for piece in Self.pieces(of: list) { pieces.append(rest.merging([key: piece]) { $1 }) }
    }
    return pieces
  }
}

extension MessageStore {
  /// All that a client can see, a line each.
  func shown() throws -> [String] {
    try read { chat in
      var lines = ["unread \(try chat.unreadTotals)"]
      let list = Array(try chat.conversations(count: 100))
      for conversation in list + (try chat.archivedConversations(count: 100)) {
        lines += try conversation.shown(in: chat)
      }
      return lines
    }
  }
}

extension Conversation {
  fileprivate func shown(in chat: borrowing StoreSnapshot) throws -> [String] {
    let preview = preview.map { "\($0.messageID) \($0.sender) \($0.text) \($0.status)" }
    var lines = [
      """
      \(id) \(kind) \(isMember) \(title ?? "-") \(avatar ?? "-") \(createdBy ?? "-") \
      \(micros(createdAt)) \(isPinned) \(isMuted) \(isArchived) \(micros(lastActivity)) \
      \(unreadCount) \(unreadMentionCount) \(messageCount) \(preview ?? "-")
      """,
      "gaps \(try chat.gaps(in: id))", "draft \(String(describing: try chat.draft(of: id)))",
    ]
    for member in try chat.participations(in: id) {
      lines.append("\(member.member) \(member.isActive) \(micros(member.joinedAt))")
    }
    // Beyond a gap, too.
    var position: MessagePosition?
    repeat {
      let thread = try chat.thread(id)
      let slice = try position.map { try thread.before($0, count: 100) } ?? thread.tail(100)
      for message in slice.reversed() { lines.append(try message.shown(in: chat)) }
      position = slice.older.next
    } while position != nil
    return lines
  }
}

extension Message {
  fileprivate func shown(in chat: borrowing StoreSnapshot) throws -> String {
    let delivery = try #require(try chat.delivery(of: id, in: conversation))
    let readers = try chat.readers(of: id, in: conversation).sorted { $0.member < $1.member }
    return """
      \(conversation) \(id) \(sender) \(text) \(micros(localTime)) \(micros(serverTimestamp)) \
      \(sequence ?? -1) \(status) \(syncStatus) \(replyTo ?? "-") \(mentions) \(reactions) \
      \(attachments) \(micros(editedAt)) \(isRetracted) \(micros(retractedAt)) \(micros(deliveredAt)) \
      \(micros(readAt)) \(try chat.history(of: id, in: conversation)) \(delivery) \(readers)
      """
  }
}

private func micros(_ time: Timestamp?) -> String { time.map { "\($0.microseconds)" } ?? "-" }

/// Whether a document has the code between the marks of a source file, word for word.
func expectDocument(
  has source: String, _ location: SourceLocation = #_sourceLocation
) throws {
  let code = try String(contentsOfFile: source, encoding: .utf8)
  let document = try String(
    contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("docs/from-your-model.md"), encoding: .utf8)
  var parts: [Substring] = []
  var rest = code[...]
  while let begin = rest.range(of: "// document begins\n"),
    let end = rest.range(of: "// document ends\n", range: begin.upperBound..<rest.endIndex)
  {
    parts.append(rest[begin.upperBound..<end.lowerBound])
    rest = rest[end.upperBound...]
  }
  #expect(!parts.isEmpty, sourceLocation: location)
  for part in parts {
    #expect(document.contains("```swift\n\(part)```\n"), "\(part)", sourceLocation: location)
  }
}
