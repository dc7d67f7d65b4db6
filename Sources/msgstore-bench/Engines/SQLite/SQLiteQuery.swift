/// The schema and the statements, written by hand to be as fast as SQLite can be, and in words that
/// the SQLite of SQLCipher 3.4 (3.15) knows, too.
///
/// Messages are clustered in the order in which a thread is read. The index of ids begins with the
/// id, since push ids grow with time, so all conversations append at one end of it. Receipts are
/// keyed by id within a conversation and append likewise.
enum SQLiteQuery: Int, CaseIterable {
  case begin, commit
  case putConversation, insertMessage, summarize, summarizeOlder
  case acknowledgeMessage, acknowledgeSummary
  case putReceipts, putMark, markRead, readers, readersByMarks
  case keepText, edit, editPreview, earlierTexts
  case extras, putExtras
  case mute, unreadTotals
  case search, searchIn, searchIndex, searchIndexIn, countMatches, countIndexed, freePages
  case replies, images
  case cipherVersion
  case tail, before, earlierThan, notEarlierThan, byID, list

  static func schema(hasRowIDs: Bool) -> String {
    """
    CREATE TABLE conversations (
      number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, participants TEXT NOT NULL, title TEXT,
      activity INTEGER, unread INTEGER NOT NULL DEFAULT 0, count INTEGER NOT NULL DEFAULT 0,
      preview_id TEXT, preview_sender TEXT, preview_text TEXT, preview_ts INTEGER,
      preview_status INTEGER, muted INTEGER NOT NULL DEFAULT 0);
    CREATE INDEX conversations_activity ON conversations (activity);
    CREATE TABLE messages (
      conversation INTEGER NOT NULL, pending INTEGER NOT NULL, ts INTEGER NOT NULL,
      seq INTEGER NOT NULL, id TEXT NOT NULL, sender TEXT NOT NULL, text TEXT NOT NULL,
      local INTEGER, status INTEGER NOT NULL, reply_to TEXT, edited INTEGER,
      extras BLOB,
      PRIMARY KEY (conversation, pending, ts, seq, id)) \(hasRowIDs ? "" : "WITHOUT ROWID");
    CREATE UNIQUE INDEX messages_id ON messages (id, conversation);
    CREATE TABLE versions (
      id TEXT NOT NULL, conversation INTEGER NOT NULL, time INTEGER NOT NULL, text TEXT NOT NULL,
      PRIMARY KEY (id, conversation, time)) WITHOUT ROWID;
    CREATE TABLE receipts (
      conversation INTEGER NOT NULL, message TEXT NOT NULL, member TEXT NOT NULL,
      time INTEGER NOT NULL, PRIMARY KEY (conversation, message, member)) WITHOUT ROWID;
    CREATE TABLE marks (
      conversation INTEGER NOT NULL, member TEXT NOT NULL, ts INTEGER NOT NULL,
      seq INTEGER NOT NULL, time INTEGER NOT NULL,
      PRIMARY KEY (conversation, member, ts, seq)) WITHOUT ROWID;
    """
  }

  /// Two rows that hold the unread totals, kept by a trigger.
  ///
  /// Summing up conversations takes a hundred times as long when there are thousands, even with an
  /// index of unread ones only. Used only where totals are read; elsewhere it would just slow
  /// SQLite down.
  static let totalsSchema = """
    CREATE TABLE totals (muted INTEGER PRIMARY KEY, unread INTEGER NOT NULL);
    INSERT INTO totals
      SELECT 0, ifnull(sum(unread), 0) FROM conversations WHERE muted = 0
      UNION ALL SELECT 1, ifnull(sum(unread), 0) FROM conversations WHERE muted = 1;
    CREATE TRIGGER conversations_totals AFTER UPDATE OF unread, muted ON conversations BEGIN
      UPDATE totals SET unread = unread - old.unread WHERE muted = old.muted;
      UPDATE totals SET unread = unread + new.unread WHERE muted = new.muted;
    END;
    """

  /// An index of replies alone, in the order in which they are read; the rest of the key follows.
  ///
  /// Made only where replies are read, as `totalsSchema` is.
  static let repliesSchema = """
    CREATE INDEX messages_replies ON messages (conversation, reply_to, pending, ts, seq, id)
      WHERE reply_to IS NOT NULL;
    """

  /// An index of images alone, in the order in which they are read.
  ///
  /// Made only where images are read, and there nothing else has extras.
  static let imagesSchema = """
    CREATE INDEX messages_images ON messages (conversation, pending, ts, seq, id)
      WHERE extras IS NOT NULL;
    """

  /// Returns the settings for opening a connection.
  static func settings(_ cache: CacheSize) -> String {
    switch cache {
    case .normal: "PRAGMA cache_size=-65536; PRAGMA mmap_size=1073741824"
    case .unmapped: "PRAGMA cache_size=-65536; PRAGMA mmap_size=0"
    case .smallest: "PRAGMA cache_size=1; PRAGMA mmap_size=0"
    }
  }

  private static let columnNames = [
    "conversation", "pending", "ts", "seq", "id", "sender", "text", "local", "status", "reply_to",
    "edited", "extras",
  ]
  private static let columns = columnNames.joined(separator: ", ")

  var text: String {
    switch self {
    case .begin: "BEGIN IMMEDIATE"
    case .commit: "COMMIT"
    case .putConversation:
      "INSERT INTO conversations (number, id, participants, title) VALUES (?1, ?2, ?3, ?4)"
    case .insertMessage:
      """
      INSERT OR IGNORE INTO messages (\(Self.columns))
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
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
        preview_ts = CASE WHEN preview_id = ?1 THEN ?3 ELSE preview_ts END,
        preview_status = CASE WHEN preview_id = ?1 THEN ?4 ELSE preview_status END
      WHERE number = ?2
      """
    case .putReceipts:
      """
      INSERT OR IGNORE INTO receipts (conversation, message, member, time)
      SELECT conversation, id, ?2, ?3 FROM messages
      WHERE conversation = ?1 AND pending = 0 AND (ts, seq) >= (?4, ?5) AND sender <> ?2
      """
    case .putMark:
      """
      INSERT OR IGNORE INTO marks (conversation, member, time, ts, seq)
      VALUES (?1, ?2, ?3, ?4, ?5)
      """
    case .markRead: "UPDATE conversations SET unread = 0 WHERE number = ?1"
    case .readers: "SELECT member, time FROM receipts WHERE message = ?1 AND conversation = ?2"
    case .readersByMarks:
      // The time is that of the row with the smallest sequence: SQLite guarantees this for min.
      """
      SELECT member, time, min(marks.seq) FROM marks
      JOIN messages ON id = ?1 AND messages.conversation = ?2
      WHERE marks.conversation = ?2 AND member <> sender
        AND (marks.ts, marks.seq) >= (messages.ts, messages.seq) GROUP BY member
      """
    case .keepText:
      """
      INSERT INTO versions (id, conversation, time, text)
      SELECT id, conversation, ifnull(edited, ts), text FROM messages
      WHERE id = ?1 AND conversation = ?2
      """
    case .edit: "UPDATE messages SET text = ?3, edited = ?4 WHERE id = ?1 AND conversation = ?2"
    case .editPreview:
      "UPDATE conversations SET preview_text = ?3 WHERE number = ?2 AND preview_id = ?1"
    case .earlierTexts:
      "SELECT text FROM versions WHERE id = ?1 AND conversation = ?2 ORDER BY time"
    case .extras: "SELECT extras FROM messages WHERE id = ?1 AND conversation = ?2"
    case .putExtras: "UPDATE messages SET extras = ?3 WHERE id = ?1 AND conversation = ?2"
    case .mute: "UPDATE conversations SET muted = 1 WHERE number = ?1"
    case .unreadTotals: "SELECT unread FROM totals ORDER BY muted"
    case .search: Self.matches("messages WHERE text LIKE ?1 ESCAPE '\\'", Self.newest)
    case .searchIn:
      Self.matches(
        "messages WHERE conversation = ?3 AND text LIKE ?1 ESCAPE '\\'", Self.newestInConversation)
    case .searchIndex: Self.matches("\(Self.indexed) WHERE words MATCH ?1", Self.newest)
    case .searchIndexIn:
      Self.matches(
        "\(Self.indexed) WHERE words MATCH ?1 AND conversation = ?3", Self.newestInConversation)
    case .countMatches: "SELECT count(*) FROM messages WHERE text LIKE ?1 ESCAPE '\\'"
    case .countIndexed: "SELECT count(*) FROM words WHERE words MATCH ?1"
    case .freePages: "PRAGMA freelist_count"
    // A library without a cipher passes over the key, and answers this with no row.
    case .cipherVersion: "PRAGMA cipher_version"
    // The indexes are named: without statistics SQLite walks the thread instead, which took 20
    // times as long for replies, and twice as long for images.
    case .replies:
      Self.messages(
        "conversation = ?1 AND reply_to = ?3", descending: true, by: "messages_replies")
    case .images:
      Self.messages(
        "conversation = ?1 AND extras IS NOT NULL", descending: true, by: "messages_images")
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
      FROM conversations WHERE activity IS NOT NULL ORDER BY activity DESC, number DESC LIMIT ?1
      """
    }
  }

  /// CROSS makes SQLite begin with the index of words.
  private static let indexed = "words CROSS JOIN messages ON messages.rowid = words.rowid"
  private static let newest = "ts DESC, conversation DESC, pending DESC, seq DESC, id DESC"
  private static let newestInConversation = "pending DESC, ts DESC, seq DESC, id DESC"

  private static func matches(_ source: String, _ order: String) -> String {
    // The index of words has a column of texts as well.
    let columns = columnNames.map { "messages.\($0)" }.joined(separator: ", ")
    return "SELECT \(columns) FROM \(source) ORDER BY \(order) LIMIT ?2"
  }

  private static func messages(
    _ condition: String, descending: Bool, by index: String? = nil
  ) -> String {
    let order = ["pending", "ts", "seq", "id"].map { descending ? "\($0) DESC" : $0 }
      .joined(separator: ", ")
    let source = index.map { "messages INDEXED BY \($0)" } ?? "messages"
    return "SELECT \(columns) FROM \(source) WHERE \(condition) ORDER BY \(order) LIMIT ?2"
  }
}
