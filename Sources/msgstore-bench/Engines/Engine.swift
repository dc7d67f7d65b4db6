import ArgumentParser

package enum EngineName: String, CaseIterable, ExpressibleByArgument {
  case msgstore, sqlite
  #if Peers
    case grdb
    /// GRDB where records are `Codable`; see `GRDBCodableReader`.
    case grdbCodable = "grdb-codable"
    case lmdb
    /// LMDB where no values are made; see `LMDBBytesReader`.
    case lmdbBytes = "lmdb-bytes"
  #endif
  /// What the machine itself costs; see `LimitEngine`.
  case limit
}

extension EngineName {
  /// Whether a build without the trait `Peers` has it.
  var isInNormalBuild: Bool { [.msgstore, .sqlite, .limit].contains(self) }

  /// Whose store it reads, where it has none of its own.
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

/// How much memory an engine may take for what it has read.
enum CacheSize: String, ExpressibleByArgument {
  /// As in all that is measured but memory.
  case normal
  /// As little as the engine allows.
  case smallest
}

/// What a commit promises when it returns.
enum Durability {
  /// On the disk.
  case full
  /// Survives the process, not a power cut.
  case relaxed
}

/// A message by name.
struct MessageKey {
  var id: String
  var conversation: Int
}

/// How SQLite keeps what has been read; ours has one way.
enum ReceiptForm {
  /// A row for each message and member, with its time.
  case rows
  /// A row for each time a member has read up to some message.
  case marks
}

/// Who has read a message, and when.
struct Reader: Equatable {
  var member: String
  var time: Int64?
}

/// What reads a thread: an engine, or another way to read an engine's store, which is of interest
/// for the newest messages and those before them only.
protocol TailReader: AnyObject {
  var name: EngineName { get }
  /// Whether readings look at every byte; see `Reading`.
  var isExact: Bool { get set }
  /// The newest messages of a conversation.
  func tail(of conversation: Int, count: Int) throws -> Reading
  /// Puts the place from which `scroll` reads on at a conversation's end. Not timed.
  func startScroll(_ conversation: Int) throws
  /// The messages before that place; then their first is the place.
  func scroll(count: Int) throws -> Reading
}

extension TailReader {
  func makeReading() -> Reading { Reading(digest: Digest(isExact: isExact)) }
}

/// A store under test.
///
/// Every operation times itself: what an application would have at hand already, such as the
/// engine's own form of a message or of a conversation's name, is made before the clock starts.
/// All that is read is held in values, strings included, when the transaction is over, and is
/// folded into the digest field by field before the clock stops.
protocol Engine: TailReader {
  /// What it was made with, for the report.
  var settings: String { get }
  /// Other ways to read its store.
  var variants: [any TailReader] { get }
  /// The store's files are the only ones in it.
  var directory: String { get }

  /// Opens the store, which is made if there is none.
  func open() throws
  func close() throws
  func checkpoint() throws
  /// Makes the store as small as the engine does on demand; false where there is no such thing.
  func compact() throws -> Bool
  /// What the commits that follow promise. Not timed.
  func use(_ durability: Durability) throws
  /// WAL bytes written since the store was opened, padding and page images included; nil where there
  /// is no WAL.
  var walByteCount: UInt64? { get throws }

  /// Makes these conversations, which are all of the corpus', in one transaction. Not timed.
  func put(_ conversations: [CorpusConversation]) throws
  /// Inserts messages that have just arrived, with their conversations' summaries, in one
  /// transaction.
  func insert(_ messages: [ChatMessage]) throws -> UInt64
  /// Gives a pending message its server time and sequence.
  func acknowledge(_ message: ChatMessage) throws -> UInt64
  /// The local member has read these messages, which are the newest of a conversation and all that
  /// is unread there, oldest first.
  func markRead(_ messages: [ChatMessage], at time: Int64, as form: ReceiptForm) throws -> UInt64
  /// Gives a message the text that it has here, and keeps the one that it had.
  func edit(_ message: ChatMessage, at time: Int64) throws -> UInt64
  /// Makes conversations count apart. Not timed.
  func mute(_ conversations: [Int]) throws
  /// Makes ready for `unreadTotals` whatever needs that. Not timed.
  func keepUnreadTotals() throws

  /// The newest messages as a slice that makes them when they are asked for, timed until it is in
  /// hand and looked at later; nil where there is no such thing.
  func slice(of conversation: Int, count: Int) throws -> Reading?
  /// Inserts one message after the other while somebody follows the newest of a conversation, and times
  /// how long each new value of these takes from its commit on; nil, and nothing inserted, where there
  /// is no such thing.
  func follow(
    _ conversation: Int, count: Int, inserting messages: [ChatMessage]
  ) throws -> [UInt64]?
  /// Half of the messages before the time, half from it on.
  func around(_ time: Int64, in conversation: Int, count: Int) throws -> Reading
  /// One message after the other by its id, each in a transaction of its own.
  func messages(_ keys: [MessageKey]) throws -> Reading
  /// The conversations with the newest activity.
  func list(count: Int) throws -> Reading
  /// How many messages of all conversations are unread, muted ones apart, so many times over.
  func unreadTotals(times: Int) throws -> Reading
  /// Who has read a message, the local member included. Not timed.
  func readers(of key: MessageKey, as form: ReceiptForm) throws -> [Reader]
  /// The texts that a message had, oldest first. Not timed.
  func earlierTexts(of key: MessageKey) throws -> [String]

  /// Opens the store, reads one tail, closes it. The store is closed before and after.
  func openTailClose(of conversation: Int, count: Int) throws -> Reading
  /// Opens the store, inserts one message at full durability, closes it.
  func openInsertClose(_ message: ChatMessage) throws -> UInt64

  /// The sum of the fingerprints of all messages of a conversation.
  func fingerprint(of conversation: Int) throws -> UInt64
}

extension Engine {
  func compact() throws -> Bool { false }

  var variants: [any TailReader] { [] }

  func slice(of conversation: Int, count: Int) -> Reading? { nil }

  func follow(_ conversation: Int, count: Int, inserting messages: [ChatMessage]) -> [UInt64]? {
    nil
  }

  /// Begins anew with an empty store.
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
