/// Strings in one piece of memory that does not move, so that SQLite need not copy them.
@safe
final class SQLiteArena {
  private let bytes: UnsafeMutableRawBufferPointer
  var count: Int { unsafe bytes.count }

  init(_ contents: [UInt8]) {
    unsafe bytes = .allocate(byteCount: contents.count, alignment: 1)
    unsafe bytes.copyBytes(from: contents)
  }

  deinit { unsafe bytes.deallocate() }

  @inline(__always)
  func bind(bytes range: Range<Int>, at parameter: Int32, to statement: SQLiteStatement) {
    unsafe statement.bind(bytes: UnsafeRawBufferPointer(rebasing: bytes[range]), at: parameter)
  }

  @inline(__always)
  func bind(_ range: Range<Int>, at parameter: Int32, to statement: SQLiteStatement) {
    unsafe statement.bind(UnsafeRawBufferPointer(rebasing: bytes[range]), at: parameter)
  }
}

/// The ids of messages to look up.
struct SQLiteKeys {
  struct Item {
    var conversation: Int64
    var id: Range<Int>
  }

  private let arena: SQLiteArena
  let items: [Item]

  init(_ keys: [MessageKey]) {
    var contents: [UInt8] = []
    items = keys.map { key in
      contents += key.id.utf8
      return Item(
        conversation: PeerMessage.number(key.conversation),
        id: contents.count - key.id.utf8.count..<contents.count)
    }
    arena = SQLiteArena(contents)
  }

  @inline(__always)
  func bindID(of item: Item, at parameter: Int32, to statement: SQLiteStatement) {
    arena.bind(item.id, at: parameter, to: statement)
  }
}

/// Messages in the form in which they are bound to statements.
struct SQLiteDrafts {
  struct Item {
    var conversation: Int64
    var isPending: Bool
    /// The server's time, or the local one until that is known.
    var time: Int64
    var serverTime: Int64?
    var sequence: Int64
    var localTime: Int64?
    var status: Int64
    var isUnread: Bool
    var id: Range<Int>
    var sender: Range<Int>
    var text: Range<Int>
    var preview: Range<Int>
    var replyTo: Range<Int>?
    var editedAt: Int64?
    var extras: Range<Int>?
  }

  private let arena: SQLiteArena
  let items: [Item]

  init(_ messages: [ChatMessage]) {
    var contents: [UInt8] = []
    func keep(_ string: String) -> Range<Int> {
      contents += string.utf8
      return contents.count - string.utf8.count..<contents.count
    }
    items = messages.map { message in
      let text = keep(message.text)
      return Item(
        conversation: PeerMessage.number(message.conversation),
        isPending: message.serverTime == nil, time: message.serverTime ?? message.localTime ?? 0,
        serverTime: message.serverTime, sequence: message.sequence ?? PeerMessage.noSequence,
        localTime: message.localTime, status: Int64(message.status),
        isUnread: message.sender != localMember, id: keep(message.id),
        sender: keep(message.sender), text: text,
        preview: text.lowerBound..<text.lowerBound
          + ConversationPreview.byteCount(of: message.text),
        replyTo: message.replyTo.map(keep), editedAt: message.editedAt,
        extras: message.extras.map { extras in
          contents += extras.packed
          return contents.count - extras.packed.count..<contents.count
        })
    }
    arena = SQLiteArena(contents)
  }

  /// Binds the parameters of `insertMessage`.
  func bind(_ item: Item, to statement: SQLiteStatement) {
    statement.bind(item.conversation, at: 1)
    statement.bind(item.isPending ? 1 : 0, at: 2)
    statement.bind(item.time, at: 3)
    statement.bind(item.sequence, at: 4)
    arena.bind(item.id, at: 5, to: statement)
    arena.bind(item.sender, at: 6, to: statement)
    arena.bind(item.text, at: 7, to: statement)
    statement.bind(item.localTime, at: 8)
    statement.bind(item.status, at: 9)
    if let replyTo = item.replyTo {
      arena.bind(replyTo, at: 10, to: statement)
    } else {
      statement.bindNull(at: 10)
    }
    statement.bind(item.editedAt, at: 11)
    if let extras = item.extras {
      arena.bind(bytes: extras, at: 12, to: statement)
    } else {
      statement.bindNull(at: 12)
    }
  }

  /// Binds the parameters of `summarize` that come from the newest message.
  func bindPreview(_ item: Item, to statement: SQLiteStatement) {
    statement.bind(item.time, at: 2)
    arena.bind(item.id, at: 5, to: statement)
    arena.bind(item.sender, at: 6, to: statement)
    arena.bind(item.preview, at: 7, to: statement)
    statement.bind(item.serverTime, at: 8)
    statement.bind(item.status, at: 9)
  }

  /// Binds the parameters common to `edit`, `keepText` and `editPreview`.
  func bindKey(of item: Item, to statement: SQLiteStatement) {
    arena.bind(item.id, at: 1, to: statement)
    statement.bind(item.conversation, at: 2)
  }

  func bindText(_ item: Item, to statement: SQLiteStatement) {
    arena.bind(item.text, at: 3, to: statement)
  }

  func bindPreviewText(_ item: Item, to statement: SQLiteStatement) {
    arena.bind(item.preview, at: 3, to: statement)
  }

  /// Binds the parameters of `acknowledgeMessage`.
  func bindAcknowledgement(_ item: Item, to statement: SQLiteStatement) {
    arena.bind(item.id, at: 1, to: statement)
    statement.bind(item.conversation, at: 2)
    statement.bind(item.time, at: 3)
    statement.bind(item.sequence, at: 4)
    statement.bind(item.status, at: 5)
  }

  /// Binds the parameters of `acknowledgeSummary`.
  func bindAcknowledgedSummary(_ item: Item, to statement: SQLiteStatement) {
    arena.bind(item.id, at: 1, to: statement)
    statement.bind(item.conversation, at: 2)
    statement.bind(item.time, at: 3)
    statement.bind(item.status, at: 4)
  }
}
