/// The schema and the statements, as one would write them by hand to be as fast as SQLite can be.
///
/// Messages are clustered in the order in which a thread is read. The index of ids begins with the
/// id, since push ids grow with time: so all conversations append at one end of it.
enum SQLiteQuery: Int, CaseIterable {
  case begin, commit
  case putConversation, insertMessage, summarize, summarizeOlder
  case acknowledgeMessage, acknowledgeSummary, markRead
  case tail, before, earlierThan, notEarlierThan, byID, list

  static let schema = """
    CREATE TABLE conversations (
      number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, participants TEXT NOT NULL, title TEXT,
      activity INTEGER, unread INTEGER NOT NULL DEFAULT 0, count INTEGER NOT NULL DEFAULT 0,
      preview_id TEXT, preview_sender TEXT, preview_text TEXT, preview_ts INTEGER,
      preview_status INTEGER);
    CREATE INDEX conversations_activity ON conversations (activity);
    CREATE TABLE messages (
      conversation INTEGER NOT NULL, pending INTEGER NOT NULL, ts INTEGER NOT NULL,
      seq INTEGER NOT NULL, id TEXT NOT NULL, sender TEXT NOT NULL, text TEXT NOT NULL,
      local INTEGER, status INTEGER NOT NULL, reply_to TEXT,
      PRIMARY KEY (conversation, pending, ts, seq, id)) WITHOUT ROWID;
    CREATE UNIQUE INDEX messages_id ON messages (id, conversation);
    """

  /// Stands for "no sequence" in the key, where it comes after any number.
  static let noSequence = Int64.max

  private static let columns =
    "conversation, pending, ts, seq, id, sender, text, local, status, reply_to"

  var text: String {
    switch self {
    case .begin: "BEGIN IMMEDIATE"
    case .commit: "COMMIT"
    case .putConversation:
      "INSERT INTO conversations (number, id, participants, title) VALUES (?1, ?2, ?3, ?4)"
    case .insertMessage:
      """
      INSERT INTO messages (\(Self.columns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
      ON CONFLICT DO NOTHING
      """
    case .summarize:
      """
      UPDATE conversations SET activity = ?2, count = count + ?3, unread = unread + ?4,
        preview_id = ?5, preview_sender = ?6, preview_text = ?7, preview_ts = ?8,
        preview_status = ?9
      WHERE number = ?1 AND (activity IS NULL OR activity <= ?2)
      """
    case .summarizeOlder:
      "UPDATE conversations SET count = count + ?2, unread = unread + ?3 WHERE number = ?1"
    case .acknowledgeMessage:
      """
      UPDATE messages SET pending = 0, ts = ?3, seq = ?4, status = ?5
      WHERE id = ?1 AND conversation = ?2
      """
    case .acknowledgeSummary:
      """
      UPDATE conversations SET activity = max(activity, ?3),
        preview_ts = iif(preview_id = ?1, ?3, preview_ts),
        preview_status = iif(preview_id = ?1, ?4, preview_status)
      WHERE number = ?2
      """
    case .markRead: "UPDATE conversations SET unread = 0 WHERE number = ?1"
    case .tail: Self.messages("conversation = ?1", descending: true)
    case .before:
      Self.messages(
        "conversation = ?1 AND (pending, ts, seq, id) < (?3, ?4, ?5, ?6)", descending: true)
    case .earlierThan:
      Self.messages("conversation = ?1 AND pending = 0 AND ts < ?3", descending: true)
    case .notEarlierThan:
      Self.messages("conversation = ?1 AND (pending, ts) >= (0, ?3)", descending: false)
    case .byID: "SELECT \(Self.columns) FROM messages WHERE id = ?1 AND conversation = ?2"
    case .list:
      """
      SELECT number, id, participants, title, activity, unread, count, preview_id, preview_sender,
        preview_text, preview_ts, preview_status
      FROM conversations WHERE activity IS NOT NULL ORDER BY activity DESC LIMIT ?1
      """
    }
  }

  private static func messages(_ condition: String, descending: Bool) -> String {
    let order = ["pending", "ts", "seq", "id"].map { descending ? "\($0) DESC" : $0 }
      .joined(separator: ", ")
    return "SELECT \(columns) FROM messages WHERE \(condition) ORDER BY \(order) LIMIT ?2"
  }
}
