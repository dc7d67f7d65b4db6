import MsgStore

#if Encryption
  import SealedPages
#endif

/// Our own store, through its public interface, with or without encrypted files.
final class MsgStoreEngine: Engine {
  let name: EngineName
  let directory: String
  let ids: [ConversationID]
  private let cache: CacheSize
  var isExact = false
  private var store: MessageStore?
  /// The store's device clock.
  let clock = BenchClock()
  private(set) var level = SyncLevel.relaxed
  /// The place where `scroll` continues: the thread, and the position if it is not the end.
  private var scrolled: (conversation: Int, place: MessagePosition?) = (0, nil)

  init(_ name: EngineName, directory: String, conversationIDs: [String], cache: CacheSize) {
    self.name = name
    self.directory = directory
    self.cache = cache
    ids = conversationIDs.map { ConversationID($0) }
  }

  // MARK: The store

  private func makeStore() throws -> MessageStore {
    var options = options
    options.localMember = MemberID(localMember)
    options.clock = { [clock] in clock.now }
    return try MessageStore(path: "\(directory)/chat.msgstore", options: options)
  }

  /// The default options, except for the memory if that is to be small.
  private var options: StoreOptions {
    var options = StoreOptions()
    if cache == .smallest { options.cacheByteCount = Self.smallestCacheByteCount }
    #if Encryption
      if name == .msgstoreEncrypted {
        options.encryption = .aes256 { [UInt8](repeating: 0x5E, count: 32) }
      }
    #endif
    return options
  }

  /// 64 pages: the store does not go below that.
  private static let smallestCacheByteCount = 64 * 4096

  var settings: String {
    "\(options.pageByteCount) B pages, \(options.cacheByteCount >> 20) MiB cache, erased text "
      + (name == .msgstore ? "overwritten" : "overwritten, files encrypted")
      + "; every other option has its default"
  }

  var current: MessageStore {
    get throws {
      guard let store else { throw BenchError("msgstore: not open") }
      return store
    }
  }

  func open() throws { store = try makeStore() }

  func close() throws {
    try store?.close()
    store = nil
  }

  func checkpoint() throws { try current.checkpoint() }

  func compact() throws -> Bool {
    try current.compact()
    return true
  }

  func use(_ durability: Durability) { level = durability == .full ? .full : .relaxed }

  var walByteCount: UInt64? {
    get throws { try current.statistics.walByteCount }
  }

  // MARK: Writing

  func put(_ conversations: [CorpusConversation]) throws {
    try current.write(.relaxed) { chat in
      for (index, conversation) in conversations.enumerated() {
        try chat.putConversation(
          ids[index], participants: conversation.participants.map { MemberID($0) },
          title: conversation.title)
      }
    }
  }

  private func draft(_ message: ChatMessage) -> Message {
    var draft = Message(
      id: MessageID(message.id), in: ids[message.conversation], from: MemberID(message.sender),
      text: message.text, localTime: message.localTime.map { Timestamp(microseconds: $0) },
      serverTimestamp: message.serverTime.map { Timestamp(microseconds: $0) },
      sequence: message.sequence, status: MessageStatus(rawValue: message.status),
      replyTo: message.replyTo.map { MessageID($0) })
    if let editedAt = message.editedAt { draft.editedAt = Timestamp(microseconds: editedAt) }
    if let extras = message.extras { draft.take(extras) }
    return draft
  }

  func insert(_ messages: [ChatMessage]) throws -> UInt64 {
    let store = try current
    let level = level
    let drafts = messages.map(draft)
    if let only = drafts.first, drafts.count == 1 {
      return try timed {
        try store.write(level) { chat in _ = try chat.insert(only) }
      }
    }
    return try timed {
      try store.write(level) { chat in _ = try chat.insert(contentsOf: drafts, as: .live) }
    }
  }

  func insertHistory(_ messages: [ChatMessage]) throws -> UInt64 {
    let store = try current
    let level = level
    let drafts = messages.map(draft)
    return try timed {
      try store.write(level) { chat in _ = try chat.insert(contentsOf: drafts, as: .history) }
    }
  }

  func acknowledge(_ message: ChatMessage) throws -> UInt64 {
    let store = try current
    let level = level
    let id = MessageID(message.id)
    let conversation = ids[message.conversation]
    let time = Timestamp(microseconds: message.serverTime ?? 0)
    let sequence = message.sequence
    var isKnown = false
    let elapsed = try timed {
      isKnown = try store.write(level) { chat in
        try chat.acknowledge(id, in: conversation, serverTimestamp: time, sequence: sequence)
      }
    }
    guard isKnown else { throw BenchError("msgstore: unknown message \(message.id)") }
    return elapsed
  }

  func openInsertClose(_ message: ChatMessage) throws -> UInt64 {
    let draft = draft(message)
    return try timed {
      let store = try makeStore()
      try store.write(.full) { chat in _ = try chat.insert(draft) }
      try store.close()
    }
  }

  // MARK: Reading

  func tail(of conversation: Int, count: Int) throws -> Reading {
    try read(conversation) { store, id in try store.read { try $0.thread(id).tail(count) } }
  }

  func startScroll(_ conversation: Int) {
    scrolled = (conversation, nil)
  }

  func scroll(count: Int) throws -> Reading {
    let place = scrolled.place
    var older: SliceBoundary?
    let reading = try read(scrolled.conversation) { store, id in
      let slice = try store.read { chat in
        guard let place else { return try chat.thread(id).tail(count) }
        return try chat.thread(id).before(place, count: count)
      }
      older = slice.older
      return slice
    }
    if let position = older?.next { scrolled.place = position }
    return reading
  }

  func around(_ time: Int64, in conversation: Int, count: Int) throws -> Reading {
    let time = Timestamp(microseconds: time)
    return try read(conversation) { store, id in
      try store.read { try $0.thread(id).at(time, count: count) }
    }
  }

  func openTailClose(of conversation: Int, count: Int) throws -> Reading {
    let id = ids[conversation]
    var reading = makeReading()
    reading.nanoseconds = try timed {
      let store = try makeStore()
      let slice = try store.read { try $0.thread(id).tail(count) }
      try store.close()
      fold(slice, in: conversation, into: &reading.digest)
    }
    return reading
  }

  @inline(__always)
  func read(
    _ conversation: Int, _ body: (MessageStore, ConversationID) throws -> MessageSlice
  ) throws -> Reading {
    let store = try current
    let id = ids[conversation]
    var reading = makeReading()
    reading.nanoseconds = try timed {
      fold(try body(store, id), in: conversation, into: &reading.digest)
    }
    return reading
  }

  func slice(of conversation: Int, count: Int) throws -> Reading? {
    let store = try current
    let id = ids[conversation]
    var slice: MessageSlice?
    var reading = makeReading()
    reading.nanoseconds = try timed { slice = try store.read { try $0.thread(id).tail(count) } }
    if let slice { fold(slice, in: conversation, into: &reading.digest) }
    return reading
  }

  @inline(__always)
  private func fold(_ slice: MessageSlice, in conversation: Int, into digest: inout Digest) {
    let id = ids[conversation]
    var previous: MessageID?
    for message in slice {
      digest.fold(
        fields(of: message, in: id, after: previous).mixed,
        whole: Fingerprint.of(whole(message, in: conversation)))
      previous = message.id
    }
  }

  /// Returns a message as it was written.
  func whole(_ message: Message, in conversation: Int) -> ChatMessage {
    ChatMessage(
      conversation: conversation, id: message.id.string, sender: message.sender.string,
      text: message.text, serverTime: message.serverTimestamp?.microseconds,
      sequence: message.sequence, localTime: message.localTime?.microseconds,
      status: message.storedStatus, replyTo: message.replyTo?.string,
      editedAt: message.editedAt?.microseconds, extras: message.extras)
  }

  @inline(__always)
  func fields(
    of message: Message, in conversation: ConversationID, after previous: MessageID?
  ) -> MessageFields {
    MessageFields(
      idByteCount: message.id.byteCount, senderByteCount: message.sender.string.utf8.count,
      textByteCount: message.text.utf8.count, serverTime: message.serverTimestamp?.microseconds,
      sequence: message.sequence, localTime: message.localTime?.microseconds,
      status: message.storedStatus, replyToByteCount: message.replyTo?.byteCount,
      editedAt: message.editedAt?.microseconds, extras: message.mixedExtras,
      isInConversation: message.conversation == conversation, isNewID: message.id != previous)
  }

  func messages(_ keys: [MessageKey]) throws -> Reading {
    let store = try current
    let keys = keys.map { (id: MessageID($0.id), conversation: $0.conversation) }
    var reading = makeReading()
    reading.nanoseconds = try timed {
      for key in keys {
        let conversation = ids[key.conversation]
        let message = try store.read { try $0.message(key.id, in: conversation) }
        guard let message else { throw BenchError("msgstore: not found: \(key.id.string)") }
        reading.digest.fold(
          fields(of: message, in: conversation, after: nil).mixed,
          whole: Fingerprint.of(whole(message, in: key.conversation)))
      }
    }
    return reading
  }

  func list(count: Int) throws -> Reading {
    let store = try current
    var reading = makeReading()
    reading.nanoseconds = try timed {
      let list = try store.read { try $0.conversations(count: count) }
      for conversation in list {
        let preview = conversation.preview
        reading.digest.fold(
          ConversationFields(
            participantCount: conversation.participants.count,
            participantByteCount: conversation.participants.reduce(0) { $0 + $1.string.utf8.count },
            titleByteCount: conversation.title?.utf8.count,
            lastActivity: conversation.lastActivity?.microseconds,
            unreadCount: conversation.unreadCount, messageCount: conversation.messageCount,
            previewIDByteCount: preview?.messageID.byteCount ?? 0,
            previewSenderByteCount: preview?.sender.string.utf8.count ?? 0,
            previewTextByteCount: preview?.text.utf8.count ?? 0,
            previewTime: preview?.serverTimestamp?.microseconds
          ).mixed,
          whole: Fingerprint.of(
            participants: conversation.participants.map(\.string), title: conversation.title,
            previewID: preview?.messageID.string, previewSender: preview?.sender.string,
            previewText: preview?.text))
      }
    }
    return reading
  }

  func fingerprint(of conversation: Int) throws -> UInt64 {
    let store = try current
    var sum: UInt64 = 0
    var place: MessagePosition?
    while true {
      let slice = try store.read { chat in
        guard let place else { return try chat.thread(ids[conversation]).tail(500) }
        return try chat.thread(ids[conversation]).before(place, count: 500)
      }
      for message in slice {
        sum &+= Fingerprint.of(whole(message, in: conversation))
      }
      guard let position = slice.older.next else { return sum }
      place = position
    }
  }
}
