import MsgStore

/// The old database: the only file of this example that knows its schema.
///
/// Rows are read in the order of the new store: conversation after conversation, and in each by
/// time. So messages come at the end of their threads, and settled ones are packed as they come.
public final class OldDatabase {
  /// The tables, as an app with GRDB or SQLite has them.
  ///
  /// `message_by_time` is needed: without it each batch would sort a conversation anew.
  public static let schema = """
    CREATE TABLE conversation (
      id INTEGER PRIMARY KEY, name TEXT, isGroup INTEGER, title TEXT, isMuted INTEGER, draft TEXT,
      changed INTEGER);
    CREATE TABLE participant (conversation INTEGER, member TEXT);
    CREATE TABLE message (
      id INTEGER PRIMARY KEY, name TEXT, conversation INTEGER, sender TEXT, text TEXT,
      time INTEGER, state INTEGER, replyTo TEXT);
    CREATE TABLE reaction (
      id INTEGER PRIMARY KEY, message INTEGER, member TEXT, emoji TEXT, time INTEGER);
    CREATE TABLE attachment (
      id INTEGER PRIMARY KEY, message INTEGER, name TEXT, type TEXT, url TEXT, path TEXT,
      byteCount INTEGER);
    CREATE TABLE read_mark (conversation INTEGER, member TEXT, time INTEGER);
    CREATE INDEX message_by_time ON message (conversation, time);
    CREATE INDEX reaction_by_message ON reaction (message);
    CREATE INDEX attachment_by_message ON attachment (message);
    CREATE INDEX participant_by_conversation ON participant (conversation);
    CREATE INDEX read_mark_by_conversation ON read_mark (conversation);
    """

  private let file: SQLiteFile
  private let conversations: SQLiteStatement
  private let participants: SQLiteStatement
  private let marks: SQLiteStatement
  private let messages: SQLiteStatement
  private let reactions: SQLiteStatement
  private let attachments: SQLiteStatement

  private static let columns = "id, name, sender, text, time, state, replyTo"

  init(path: String) throws {
    file = try SQLiteFile(path: path, isReadOnly: true)
    conversations = try file.prepare(
      """
      SELECT id, name, isGroup, title, isMuted, draft, changed FROM conversation WHERE id >= ?
      ORDER BY id LIMIT 1
      """)
    participants = try file.prepare("SELECT member FROM participant WHERE conversation = ?")
    marks = try file.prepare("SELECT member, time FROM read_mark WHERE conversation = ?")
    // The next messages after a place, found by the index. OFFSET would count its way there.
    messages = try file.prepare(
      """
      SELECT \(Self.columns) FROM message WHERE conversation = ? AND typeof(time) = 'integer'
        AND (time, id) > (?, ?)
      ORDER BY time, id LIMIT ?
      """)
    reactions = try file.prepare("SELECT id, member, emoji, time FROM reaction WHERE message = ?")
    attachments = try file.prepare(
      "SELECT id, name, type, url, path, byteCount FROM attachment WHERE message = ? ORDER BY id")
  }

  /// Returns the number of messages.
  func messageCount() throws -> Int {
    var count: Int64 = 0
    let statement = try file.prepare("SELECT COUNT(*) FROM message")
    try statement.forEach { count = statement.integer(0) ?? 0 }
    return Int(count)
  }

  /// Returns the next messages after a place, some of them of one conversation and some of the next.
  ///
  /// Returns an empty batch at the end.
  func batch(after place: MovePlace?, count: Int) throws -> [OldPart] {
    var (parts, place, left) = ([OldPart](), place, count)
    while left > 0, let part = try part(after: place, count: left) {
      parts.append(part)
      place = part.place
      left -= max(part.messages.count, 1)
    }
    return parts
  }

  private func part(after place: MovePlace?, count: Int) throws -> OldPart? {
    let isMiddle = place.map { !$0.isConversationDone } ?? false
    if !isMiddle, place?.conversation == .max { return nil }
    let first = place.map { isMiddle ? $0.conversation : $0.conversation + 1 } ?? .min
    guard let conversation = try conversation(from: first) else { return nil }
    let start = isMiddle ? place : nil
    var rows = try messageRows(
      messages,
      [
        .integer(conversation.row), .integer(start?.time ?? .min),
        .integer(start?.message ?? .min), .integer(Int64(count) + 1),
      ])
    // One more was asked for, which tells whether there is one.
    let isEnd = rows.count <= count
    if !isEnd { rows.removeLast() }
    for index in rows.indices { try addFacts(to: &rows[index]) }
    return OldPart(
      conversation: conversation, isBeginning: !isMiddle, messages: rows,
      place: MovePlace(
        conversation: conversation.row, time: rows.last?.time ?? start?.time ?? .min,
        message: rows.last?.row ?? start?.message ?? .min, isConversationDone: isEnd))
  }

  /// Returns the first conversation from a row on.
  func conversation(from row: Int64) throws -> OldConversation? {
    var found: OldConversation?
    try conversations.forEach([.integer(row)]) {
      found = OldConversation(
        row: conversations.integer(0) ?? row, name: conversations.text(1),
        isGroup: conversations.integer(2) == 1, title: conversations.text(3),
        isMuted: conversations.integer(4) == 1, draft: conversations.text(5),
        changedAt: conversations.integer(6) ?? 0)
    }
    guard var conversation = found else { return nil }
    try participants.forEach([.integer(conversation.row)]) {
      guard let member = participants.text(0).string else { return }
      conversation.participants.append(MemberID(member))
    }
    try marks.forEach([.integer(conversation.row)]) {
      guard let member = marks.text(0).string, let time = marks.integer(1) else { return }
      conversation.marks.append(OldConversation.Mark(member: MemberID(member), time: time))
    }
    return conversation
  }

  /// Returns the conversations after a row whose messages all lie before a place.
  func endedConversations(
    after row: Int64?, before place: MovePlace?
  ) throws -> [OldConversation] {
    guard let place, row != .max else { return [] }
    var ended: [OldConversation] = []
    var next = row.map { $0 + 1 } ?? .min
    while let conversation = try conversation(from: next),
      conversation.row < place.conversation
        || (conversation.row == place.conversation && place.isConversationDone)
    {
      ended.append(conversation)
      guard conversation.row < .max else { break }
      next = conversation.row + 1
    }
    return ended
  }

  /// Calls a closure for each message of a conversation, in the order of the new store.
  ///
  /// Messages of one time are ordered by the bytes of their ids.
  func forEachMessage(
    of conversation: Int64, _ body: (OldMessage) throws -> Void
  ) throws {
    let statement = try file.prepare(
      """
      SELECT \(Self.columns) FROM message WHERE conversation = ? AND typeof(time) = 'integer'
      ORDER BY time, name COLLATE BINARY, id
      """)
    try statement.forEach([.integer(conversation)]) {
      var message = Self.message(statement)
      // A picture may come without a text.
      if case .missing = message.text { try addFacts(to: &message) }
      try body(message)
    }
  }

  /// Returns the messages to which no batch comes.
  func forEachUnplaced(_ body: (UnplacedRow) -> Void) throws {
    let statement = try file.prepare(
      """
      SELECT id, name, typeof(time) = 'integer' FROM message
      WHERE typeof(time) <> 'integer' OR conversation IS NULL
        OR conversation NOT IN (SELECT id FROM conversation)
      """)
    try statement.forEach {
      body(
        UnplacedRow(
          row: statement.integer(0) ?? 0, id: statement.text(1),
          hasTime: statement.integer(2) == 1))
    }
  }

  private func messageRows(
    _ statement: SQLiteStatement, _ parameters: [SQLiteValue]
  ) throws -> [OldMessage] {
    var rows: [OldMessage] = []
    try statement.forEach(parameters) { rows.append(Self.message(statement)) }
    return rows
  }

  private static func message(_ row: SQLiteStatement) -> OldMessage {
    OldMessage(
      row: row.integer(0) ?? 0, id: row.text(1), sender: row.text(2), text: row.text(3),
      time: row.integer(4) ?? 0, state: row.integer(5).flatMap(OldMessage.State.init) ?? .sent,
      replyTo: row.text(6))
  }

  private func addFacts(to message: inout OldMessage) throws {
    var (found, files) = ([OldReaction](), [OldAttachment]())
    try reactions.forEach([.integer(message.row)]) {
      found.append(
        OldReaction(
          row: reactions.integer(0) ?? 0, member: reactions.text(1), emoji: reactions.text(2),
          time: reactions.integer(3)))
    }
    try attachments.forEach([.integer(message.row)]) {
      files.append(
        OldAttachment(
          row: attachments.integer(0) ?? 0, id: attachments.text(1), type: attachments.text(2),
          url: attachments.text(3), path: attachments.text(4),
          byteCount: attachments.integer(5)))
    }
    (message.reactions, message.attachments) = (found, files)
  }
}
