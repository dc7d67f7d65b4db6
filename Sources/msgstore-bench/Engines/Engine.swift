import ArgumentParser

package enum EngineName: String, CaseIterable, ExpressibleByArgument {
  case msgstore
  #if Encryption
    /// Our store with encrypted files.
    case msgstoreEncrypted = "msgstore-encrypted"
  #endif
  case sqlite
  /// SQLite with an index for searches; see `SQLiteSearch`. Takes part in those alone.
  case sqliteTime = "sqlite-time"
  case sqliteWords = "sqlite-fts5"
  case sqliteTrigrams = "sqlite-trigram"
  #if SQLCipher
    /// SQLite with encrypted files. In its build `sqlite` is the same library without a key.
    case sqlcipher
  #endif
  #if Peers
    case grdb
    /// GRDB with `Codable` records; see `GRDBCodableReader`.
    case grdbCodable = "grdb-codable"
    case lmdb
    /// LMDB without making values; see `LMDBBytesReader`.
    case lmdbBytes = "lmdb-bytes"
  #endif
  /// The cost of the machine itself; see `LimitEngine`.
  case limit
}

extension EngineName {
  /// True if a normal build includes the engine.
  ///
  /// In a build for SQLCipher none is, as another SQLite is measured there.
  var isInNormalBuild: Bool {
    #if SQLCipher
      false
    #else
      [.msgstore, .sqlite, .limit].contains(self) || isForSearch
    #endif
  }

  /// True if the engine is SQLite or ours, with or without encrypted files.
  ///
  /// Some workloads measure these engines alone.
  var isSQLiteOrOurs: Bool {
    switch self {
    case .msgstore, .sqlite: true
    #if Encryption
      case .msgstoreEncrypted: true
    #endif
    #if SQLCipher
      case .sqlcipher: true
    #endif
    default: false
    }
  }

  /// True if the engine takes part in the workloads of search alone.
  var isForSearch: Bool { [.sqliteTime, .sqliteWords, .sqliteTrigrams].contains(self) }

  /// The engine whose store this one reads, if it has no store of its own.
  var owner: EngineName? {
    switch self {
    #if Peers
      case .grdbCodable: .grdb
      case .lmdbBytes: .lmdb
    #endif
    default: nil
    }
  }
}

/// The amount of memory that an engine may use for caching.
enum CacheSize: String, ExpressibleByArgument {
  /// As in all workloads except `memory-small`.
  case normal
  /// As little as the engine allows.
  case smallest
  /// As normal, but files are read by calls where the engine can do that, so that pages count.
  case unmapped
}

/// The guarantee of a commit when it returns.
enum Durability {
  /// On the disk.
  case full
  /// Survives the death of the process, but not a power cut.
  case relaxed
}

/// The name of a message.
struct MessageKey {
  var id: String
  var conversation: Int
}

/// The way SQLite records what has been read; ours has only one.
enum ReceiptForm {
  /// A row for each message and member, with its time.
  case rows
  /// A row for each time a member has read up to some message.
  case marks
}

/// A member who has read a message, and the time.
struct Reader: Equatable {
  var member: String
  var time: Int64?
}

/// A reader of threads: an engine, or another way to read an engine's store.
///
/// Only the newest messages and older ones are read in another way.
protocol TailReader: AnyObject {
  var name: EngineName { get }
  /// True if readings look at every byte; see `Reading`.
  var isExact: Bool { get set }
  /// Reads the newest messages of a conversation.
  func tail(of conversation: Int, count: Int) throws -> Reading
  /// Sets the place from which `scroll` continues to a conversation's end.
  ///
  /// Not timed.
  func startScroll(_ conversation: Int) throws
  /// Reads the messages before that place and moves the place to the first of them.
  func scroll(count: Int) throws -> Reading
}

extension TailReader {
  func makeReading() -> Reading { Reading(digest: Digest(isExact: isExact)) }
}

/// A store under test.
///
/// Every operation times itself. Values that an application would already have at hand, such as the
/// engine's own form of a message or of a conversation's name, are made before the clock starts.
/// Everything read is held in values, strings included, when the transaction is over, and is folded
/// into the digest field by field before the clock stops.
protocol Engine: TailReader {
  /// The settings it was opened with, for the report.
  var settings: String { get }
  /// Other ways to read its store.
  var variants: [any TailReader] { get }
  /// The directory that holds the store's files and nothing else.
  var directory: String { get }

  /// Opens the store, creating it if it does not exist.
  func open() throws
  func close() throws
  func checkpoint() throws
  /// Compacts the store.
  ///
  /// Returns false if the engine cannot do that.
  func compact() throws -> Bool
  /// Sets the durability of later commits.
  ///
  /// Not timed.
  func use(_ durability: Durability) throws
  /// The WAL bytes written since the store was opened, padding and page images included; nil
  /// without a WAL.
  var walByteCount: UInt64? { get throws }

  /// Creates these conversations, which are all of the corpus', in one transaction.
  ///
  /// Not timed.
  func put(_ conversations: [CorpusConversation]) throws
  /// Inserts newly arrived messages, with their conversations' summaries, in one transaction.
  func insert(_ messages: [ChatMessage]) throws -> UInt64
  /// Inserts older messages of a thread in one transaction, which a client has fetched.
  func insertHistory(_ messages: [ChatMessage]) throws -> UInt64
  /// Gives a pending message its server time and sequence.
  func acknowledge(_ message: ChatMessage) throws -> UInt64
  /// Marks messages as read by the local member.
  ///
  /// They are the newest of a conversation and all that is unread there, oldest first.
  func markRead(_ messages: [ChatMessage], at time: Int64, as form: ReceiptForm) throws -> UInt64
  /// Gives a message the text that it has here, and keeps the old text.
  func edit(_ message: ChatMessage, at time: Int64) throws -> UInt64
  /// Adds a reaction to a message.
  func react(_ reaction: ChatReaction, to message: ChatMessage) throws -> UInt64
  /// Stores that another member has read a conversation up to a message.
  func receiveMark(of member: String, upTo message: ChatMessage, at time: Int64) throws -> UInt64
  /// Mutes conversations, so that they count separately.
  ///
  /// Not timed.
  func mute(_ conversations: [Int]) throws
  /// Prepares the store for `unreadTotals`, if necessary.
  ///
  /// Not timed.
  func keepUnreadTotals() throws

  /// Reads the newest messages as a slice that makes them on demand.
  ///
  /// Timed until the slice is in hand; its messages are read later. Returns nil if the engine has
  /// no such slices.
  func slice(of conversation: Int, count: Int) throws -> Reading?
  /// Inserts messages one after the other while a follower observes the newest of a conversation.
  ///
  /// Returns the time from each commit to the follower's new value. Returns nil, without inserting
  /// anything, if the engine cannot follow changes.
  func follow(
    _ conversation: Int, count: Int, inserting messages: [ChatMessage]
  ) throws -> [UInt64]?
  /// Reads messages around a time: half before it, half from it on.
  func around(_ time: Int64, in conversation: Int, count: Int) throws -> Reading
  /// Reads messages one after the other by id, each in a transaction of its own.
  func messages(_ keys: [MessageKey]) throws -> Reading
  /// Reads the conversations with the newest activity.
  func list(count: Int) throws -> Reading
  /// Reads the number of unread messages of all conversations `times` times, muted ones separate.
  func unreadTotals(times: Int) throws -> Reading
  /// Returns the readers of a message, the local member included.
  ///
  /// Not timed.
  func readers(of key: MessageKey, as form: ReceiptForm) throws -> [Reader]
  /// Returns the earlier texts of a message, oldest first.
  ///
  /// Not timed.
  func earlierTexts(of key: MessageKey) throws -> [String]

  /// Opens the store, reads one tail, closes it.
  ///
  /// The store is closed before and after.
  func openTailClose(of conversation: Int, count: Int) throws -> Reading
  /// Opens the store, inserts one message at full durability, closes it.
  func openInsertClose(_ message: ChatMessage) throws -> UInt64

  /// Returns the sum of the fingerprints of all messages of a conversation.
  func fingerprint(of conversation: Int) throws -> UInt64
}

extension Engine {
  func compact() throws -> Bool { false }

  // The peers count history as unread, which costs them nothing.
  func insertHistory(_ messages: [ChatMessage]) throws -> UInt64 { try insert(messages) }

  var variants: [any TailReader] { [] }

  func slice(of conversation: Int, count: Int) -> Reading? { nil }

  func follow(_ conversation: Int, count: Int, inserting messages: [ChatMessage]) -> [UInt64]? {
    nil
  }

  /// Starts over with an empty store.
  ///
  /// Not timed.
  func reset(_ conversations: [CorpusConversation]) throws {
    try close()
    Files.remove(directory)
    try Files.makeDirectory(directory)
    try open()
    try use(.relaxed)
    try put(conversations)
  }
}
