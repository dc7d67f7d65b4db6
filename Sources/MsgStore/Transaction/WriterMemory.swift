import PageFile

/// What a writer leaves to the next one, that would look all of it up again: who stands behind the
/// names it met, the summaries of conversations, and a few counts.
///
///  1. It passes on only when its transaction is committed, and says the same as the trees do then:
///     every change of it is a change of the trees too, or is written by `finish`.
///  2. The next writer takes it only if its own transaction begins with that commit, in the same life
///     of the store; whatever else has been committed, all is looked up anew. See `KnownNames`.
///  3. A transaction that fails takes it along.
///
/// It is not copied but handed on, under the lock of `KnownNames`, to one writer at a time: that makes
/// it safe to send.
package final class WriterMemory: @unchecked Sendable {
  var numbers: NameNumbers
  /// Conversations by their numbers, and by the names under which they were met lately.
  private(set) var conversations: [UInt32: OpenConversation] = [:]
  private var named = RecentNames<OpenConversation>()
  /// Those of them that this transaction has met: no others can have changed.
  private(set) var touched: [OpenConversation] = []
  /// False: nothing waits for messages that are not here; nil: nobody has looked.
  var isAnythingWaiting: Bool?
  /// What the settings tree has; nil: nobody has looked.
  var totals: Totals?
  /// What the work tree has of the outbox as a whole; nil: nobody has looked.
  var outbox: OutboxTotals?

  /// What packs segments, once it was needed: quickly, and for many messages at once.
  var encoders: (fast: SegmentEncoder?, high: SegmentEncoder?)
  /// Whether this transaction adds a dictionary: what it packs is still packed with the one before.
  var packsWithOldDictionary = false
  /// How many bytes of messages were packed without a dictionary.
  var plainByteCount = 0
  /// With how many of them a dictionary is asked for.
  var plainByteCountMax = 1 << 20
  /// What a transaction has not written yet.
  let unwritten = UnwrittenMessages()

  /// How many conversations a transaction keeps, and how many pass to the next.
  static let conversationCountMax = 4096
  private static let keptConversationCountMax = 256

  /// Conversations whose `others` were kept, oldest first; one may be here that has none any more.
  private var groups: [OpenConversation] = []
  private var recipientCount = 0
  private let recipientCountMax: Int
  private static let groupCountMax = 1024

  init(_ shares: MemoryShares = MemoryShares()) {
    numbers = NameNumbers(byteCountMax: shares.nameNumbers)
    recipientCountMax = shares.recipients / MemoryLayout<Recipient>.stride
  }

  /// A conversation, to be changed by this transaction.
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
    touched.append(conversation)
  }

  func insert(_ conversation: OpenConversation) {
    conversations[conversation.number] = conversation
    touch(conversation)
  }

  func insert(_ conversation: OpenConversation, named id: ConversationID) {
    named.insert(conversation, id.string)
  }

  func remove(_ conversation: OpenConversation) {
    forgetOthers(of: conversation)
    conversations[conversation.number] = nil
    touched.removeAll { $0 === conversation }
    forgetNames()
  }

  func forgetNames() { named.removeAll() }

  func forgetConversations() {
    forgetAllOthers()
    conversations.removeAll()
    touched.removeAll()
    forgetNames()
  }

  /// Keeps who takes part in a conversation; of others it is forgotten where there is no room.
  func keep(_ others: [Recipient], of conversation: OpenConversation) {
    if groups.count >= Self.groupCountMax { forgetAllOthers() }
    forgetOthers(of: conversation)
    conversation.others = others
    recipientCount += others.count
    groups.append(conversation)
    while recipientCount > recipientCountMax, groups.count > 1 {
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

  /// Makes ready for the next transaction, after a commit.
  ///
  /// Memory stays bounded: of more conversations than may be kept none is.
  func settle(isAnythingWaiting: Bool?) {
    if packsWithOldDictionary {
      encoders = (nil, nil)
      packsWithOldDictionary = false
    }
    for conversation in touched { conversation.isTouched = false }
    touched.removeAll(keepingCapacity: true)
    if conversations.count > Self.keptConversationCountMax { forgetConversations() }
    // What was noted may have ended; that nothing was is sure.
    self.isAnythingWaiting = isAnythingWaiting == false ? false : nil
  }
}

/// Values by names, for those that were met lately.
///
/// Each name has one place, given by its length and a few of its bytes, and the last that came there
/// has it: finding takes a comparison, and no names, however chosen, make it slow.
struct RecentNames<Value> {
  private var entries: [(name: String, value: Value)?] = []
  private static var placeBitCount: Int { 10 }

  private static func place(of name: String) -> Int {
    // Unsafe: the bytes are looked at before the name can go.
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
}
