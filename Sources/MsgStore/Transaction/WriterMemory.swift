import PageFile

/// A cache handed from one write transaction to the next: the numbers of names met lately,
/// summaries of conversations, and what else is dear to look up.
///
///  1. It is handed on only when its transaction is committed, and then it agrees with the trees:
///     every
///     change of it is also a change of the trees, or is written by `finish`.
///  2. The next writer takes it only if its own transaction begins with that commit, in the same
///     life
///     of the store. After any other commit everything is looked up again. See `KnownNames`.
///  3. It is lost with a transaction that fails.
///
/// It is not copied but handed on to one writer at a time, under the lock of `KnownNames`; this
/// makes it safe to send.
package final class WriterMemory: @unchecked Sendable {
  var numbers: NameNumbers
  /// The open conversations by number, and by the names under which they were met lately.
  private(set) var conversations: [UInt32: OpenConversation] = [:]
  private var named = RecentNames<OpenConversation>()
  /// True if no further conversation may be opened before others are forgotten.
  private(set) var isFull = false
  /// The conversations that this transaction has met.
  ///
  /// Only these can have changed.
  private(set) var touched: [OpenConversation] = []
  /// True if the local member's side of receipts of some conversation is not written yet.
  var hasUnwrittenReceipts = false
  /// The lane that was read or written last; nil without one.
  var lane: (conversation: UInt32, lane: OutboxLane)?
  /// Room for the cells that one change of a record and its keys concerns; nil while it is made.
  private var spareCells: CellRun?

  /// The messages that the steps of pruning have spared in one conversation; nil if they have to be
  /// counted.
  var sparedMessages: SparedMessages?

  /// The merges that are left to be done; nil if they have not been read.
  var merges: Merges?

  /// The end of the expired messages that counters have let go; nil if this has not been read.
  var expiryReached: KnownExpiry?
  /// The expired messages that could not be erased; nil without any.
  var expiryErasure: KnownErasure?
  /// The entry in whose messages the last step of erasing has ended; nil if it ended between two.
  var begunErasure: BegunErasure?

  /// The segment encoder; nil until needed.
  var encoder: SegmentEncoder?
  /// True if this transaction adds a dictionary; its own messages are still packed with the
  /// previous one.
  var packsWithOldDictionary = false
  /// The number of message bytes packed since a dictionary was last requested.
  var packedByteCount = 0
  /// The number of bytes at which one was requested last; 0 if none was.
  var demandedByteCount = 0
  /// The number of such bytes at which one is requested; nil until it has been calculated.
  var maximumPackedByteCount: Int?
  /// The messages that the transaction has not written yet.
  let unwritten = UnwrittenMessages()

  /// The number of conversations that a transaction keeps open, and below it the number that is
  /// handed on.
  static let maximumConversationCount = 4096
  private static let maximumKeptConversationCount = 256
  /// The number that is handed on of more.
  private static let keptConversationCount = 128
  /// The number of transactions so far, which dates the use of conversations.
  private var age: UInt64 = 0

  /// The conversations whose `others` were kept, oldest first; may include ones whose `others` are
  /// dropped.
  private var groups: [OpenConversation] = []
  private var recipientCount = 0
  private let maximumRecipientCount: Int
  private static let maximumGroupCount = 1024

  init(_ shares: MemoryShares = MemoryShares()) {
    numbers = NameNumbers(maximumByteCount: shares.nameNumbers)
    maximumRecipientCount = shares.recipients / MemoryLayout<Recipient>.stride
  }

  /// Takes the room for the cells of one change.
  func takeCells() -> CellRun { spareCells.take() ?? CellRun(capacity: 1024) }

  /// Takes back the room for cells.
  @inline(never)
  func giveBack(_ cells: consuming CellRun) {
    cells.removeAll()
    spareCells = consume cells
  }

  /// Returns an open conversation for this transaction to change.
  func conversation(_ number: UInt32) -> OpenConversation? {
    guard let conversation = conversations[number] else { return nil }
    touch(conversation)
    return conversation
  }

  func conversation(_ id: ConversationID) -> OpenConversation? {
    guard let conversation = named[id.string] else { return nil }
    touch(conversation)
    return conversation
  }

  private func touch(_ conversation: OpenConversation) {
    if conversation.isTouched { return }
    conversation.isTouched = true
    conversation.lastUse = age
    touched.append(conversation)
  }

  func insert(_ conversation: OpenConversation) {
    conversations[conversation.number] = conversation
    isFull = conversations.count >= Self.maximumConversationCount
    touch(conversation)
  }

  func insert(_ conversation: OpenConversation, named id: ConversationID) {
    named.insert(conversation, id.string)
  }

  /// Notes that the number of the messages before those at a place may have changed.
  @inline(__always)
  func noteCountChange(at position: MessagePosition, in conversation: UInt32) {
    if let known = sparedMessages, known.conversation == conversation, position <= known.reached,
      !StoreDefect.sparedCountKept.isPlanted
    {
      sparedMessages = nil
    }
  }

  func remove(_ conversation: OpenConversation) {
    forgetOthers(of: conversation)
    conversations[conversation.number] = nil
    isFull = conversations.count >= Self.maximumConversationCount
    touched.removeAll { $0 === conversation }
    forgetNames()
  }

  func forgetNames() { named.removeAll() }

  func forgetConversations() {
    forgetAllOthers()
    conversations.removeAll()
    isFull = false
    touched.removeAll()
    forgetNames()
  }

  /// Keeps the participants of a conversation.
  ///
  /// If there is no room, those of the oldest conversations are dropped.
  func keep(_ others: [Recipient], of conversation: OpenConversation) {
    if groups.count >= Self.maximumGroupCount { forgetAllOthers() }
    forgetOthers(of: conversation)
    conversation.others = others
    recipientCount += others.count
    groups.append(conversation)
    while recipientCount > maximumRecipientCount, groups.count > 1 {
      forgetOthers(of: groups.removeFirst())
    }
  }

  func forgetOthers(of conversation: OpenConversation) {
    recipientCount -= conversation.others?.count ?? 0
    conversation.others = nil
  }

  private func forgetAllOthers() {
    for conversation in groups { forgetOthers(of: conversation) }
    groups.removeAll()
  }

  /// Forgets the conversations that were met least recently.
  private func forgetColdest() {
    let order = Array(conversations.values).inOrder { $0.lastUse }
    for conversation in order.dropLast(Self.keptConversationCount) {
      forgetOthers(of: conversation)
      conversations[conversation.number] = nil
    }
    groups.removeAll { $0.others == nil }
    named.removeAll { conversations[$0.number] !== $0 }
    isFull = false
  }

  /// Prepares the memory for the next transaction, after a commit.
  ///
  /// Memory stays bounded: of too many conversations those met last are handed on.
  func settle() {
    if packsWithOldDictionary {
      encoder = nil
      packsWithOldDictionary = false
    }
    for conversation in touched { conversation.isTouched = false }
    touched.removeAll(keepingCapacity: true)
    age += 1
    if conversations.count > Self.maximumKeptConversationCount { forgetColdest() }
  }
}

/// The messages of a conversation that pruning has passed over, as a writer remembers them.
package struct SparedMessages: Equatable {
  package let conversation: UInt32
  /// The position up to which messages were pruned or spared.
  package let reached: MessagePosition
  /// The number of messages up to there that the conversation counts.
  package let count: Int
}

/// A cache of values by the names met lately.
///
/// Each name has one slot, chosen by its length and a few of its bytes, and the last name inserted
/// there keeps it. A lookup takes one comparison, so no choice of names can make it slow.
struct RecentNames<Value> {
  private var entries: [(name: String, value: Value)?] = []
  private static var placeBitCount: Int { 10 }

  private static func place(of name: String) -> Int {
    // Unsafe: the bytes are read while the name is alive.
    let mixed = unsafe name.utf8.withContiguousStorageIfAvailable { storage in
      Self.mixed(unsafe Bytes(UnsafeRawBufferPointer(storage)))
    }
    return mixed ?? 0
  }

  private static func mixed(_ bytes: Bytes) -> Int {
    var word = UInt64(truncatingIfNeeded: bytes.count)
    if bytes.count >= 8 {
      word ^= bytes.uint64(at: bytes.count - 8)
    } else {
      for offset in 0..<bytes.count { word = word << 8 | UInt64(bytes[offset]) }
    }
    return Int(truncatingIfNeeded: (word &* 0x9E37_79B9_7F4A_7C15) >> (64 - placeBitCount))
  }

  subscript(name: String) -> Value? {
    guard !entries.isEmpty, let entry = entries[Self.place(of: name)],
      entry.name.hasSameBytes(as: name)
    else {
      return nil
    }
    return entry.value
  }

  mutating func insert(_ value: Value, _ name: String) {
    if entries.isEmpty { entries = Array(repeating: nil, count: 1 << Self.placeBitCount) }
    entries[Self.place(of: name)] = (name, value)
  }

  mutating func removeAll() { entries = [] }

  /// Removes the values that meet a condition.
  mutating func removeAll(where isRemoved: (Value) -> Bool) {
    for index in entries.indices {
      if let entry = entries[index], isRemoved(entry.value) { entries[index] = nil }
    }
  }
}
