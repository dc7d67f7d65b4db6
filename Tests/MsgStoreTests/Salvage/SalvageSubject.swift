import MsgStore
import MsgStoreTools
import PageFile
import PageFileSalvage
import Simulation
import Testing

/// The files of a store, and in which of their slots each message lies.
///
/// Where a message lies is found out here from the format alone: the meta slot, the page table, the
/// leaves. Nothing of a salvage takes part in it.
struct SalvageSubject {
  static let names = ["store", "store-wal0", "store-wal1"]

  var files: [String: [UInt8]]
  let pageByteCount: Int
  /// The slots of table pages, by level.
  private(set) var tableSlots: [Int: [Int]] = [:]
  /// The slots of pages: leaves and branches by tree and level, overflow pages by tree 32, behind all.
  private(set) var pageSlots: [PageRole: [Int]] = [:]
  /// The slots that each message needs: its leaf and the pages of its value.
  private(set) var messageSlots: [MessageID: Set<Int>] = [:]
  /// The slots of the record beside a segment, which is enough to bring its message back.
  private(set) var besideSlots: [MessageID: Set<Int>] = [:]

  /// The slots that have a copy of each piece of a dictionary, by what its copies have in common.
  private(set) var dictionarySlots: [[UInt8]: Set<Int>] = [:]

  /// The slots that each fact needs.
  private(set) var factSlots: [FactName: [Set<Int>]] = [:]

  /// A kind of facts of one message.
  struct FactName: Hashable {
    let message: MessageID
    let kind: UInt8
  }

  struct PageRole: Hashable {
    let tree: Int
    let level: Int
  }

  static let overflow = PageRole(tree: 32, level: 0)
  static let messagesTree = Cells.messagesTree
  static let factsTree = Schema.facts.rawValue
  static let besideTree = Cells.besideTree
  /// Those of the kinds below are of the message itself, and not of its not being here.
  static let waitingKind: UInt8 = 5
  static let versionKind: UInt8 = 1

  /// Takes up a store that was closed, or, for those who do not ask where messages lie, one whose log
  /// has commits.
  init(_ files: [String: [UInt8]], isClosed: Bool = true) throws {
    self.files = files
    let meta = try #require(
      [0, 1].compactMap { index -> MetaSlot? in
        let start = MetaSlot.offset(of: index)
        guard let data = files["store"], data.count >= start + MetaSlot.byteCount else {
          return nil
        }
        let bytes = Array(data[start..<start + MetaSlot.byteCount])
        guard case .valid(let meta) = Bytes.with(bytes, { MetaSlot.read($0) }) else { return nil }
        return meta
      }.max { $0.writeNumber < $1.writeNumber })
    try #require(meta.isClean || !isClosed)
    pageByteCount = meta.pageByteCount
    var slots: [UInt32: Int] = [:]
    walk(meta.table.entry, meta.table.height - 1, 0, &slots)
    for slot in slots.values { note(slot, slots) }
  }

  init(_ directory: MemoryDirectory) throws {
    var files: [String: [UInt8]] = [:]
    for name in Self.names { files[name] = directory[name] }
    try self.init(files)
  }

  private mutating func walk(
    _ entry: TableEntry, _ level: Int, _ place: Int, _ slots: inout [UInt32: Int]
  ) {
    guard !entry.isNone else { return }
    let slot = Int(entry.slot.rawValue)
    guard level >= 0 else { return slots[UInt32(place)] = slot }
    tableSlots[level, default: []].append(slot)
    let count = TablePage.entryCount(pageByteCount: pageByteCount)
    Bytes.with(page(in: slot)) { page in
      for index in 0..<count {
        let below = TableEntry(rawValue: page.uint64(at: TablePage.entryOffset(index)))
        walk(below, level - 1, place * count + index, &slots)
      }
    }
  }

  private mutating func note(_ slot: Int, _ slots: [UInt32: Int]) {
    Bytes.with(page(in: slot)) { bytes in
      if bytes[PageHeader.kindOffset] == PageKind.overflow.rawValue {
        return pageSlots[Self.overflow, default: []].append(slot)
      }
      let page = TreePage(bytes)
      let role = PageRole(tree: page.tree.rawValue, level: page.level)
      pageSlots[role, default: []].append(slot)
      if role == PageRole(tree: Self.factsTree, level: 0) { noteFacts(page, slot, slots) }
      if role == PageRole(tree: 0, level: 0) { noteDictionaries(page, slot) }
      if role == PageRole(tree: Self.besideTree, level: 0) { noteBeside(page, slot, slots) }
      guard role == PageRole(tree: Self.messagesTree, level: 0) else { return }
      for index in 0..<page.cellCount {
        var key = ByteBuffer()
        page.key(index).append(dropping: 4, to: &key)
        guard let id = key.bytes.position?.id else { continue }
        if let value = page.inlineValue(index) {
          var whole = ByteBuffer()
          page.key(index).append(dropping: 0, to: &whole)
          for id in SegmentReport.names(value, at: whole.bytes) ?? [] { messageSlots[id] = [slot] }
        }
        messageSlots[id] = Set([slot] + chain(page.overflow(index)?.first, slots))
      }
    }
  }

  private mutating func noteBeside(_ page: TreePage, _ slot: Int, _ slots: [UInt32: Int]) {
    for index in 0..<page.cellCount {
      var key = ByteBuffer()
      page.key(index).append(dropping: 4, to: &key)
      guard let id = key.bytes.position?.id else { continue }
      besideSlots[id] = Set([slot] + chain(page.overflow(index)?.first, slots))
    }
  }

  /// A piece has the key 0xFF, number (4), copy (1), index (2).
  private mutating func noteDictionaries(_ page: TreePage, _ slot: Int) {
    for index in 0..<page.cellCount {
      var key = ByteBuffer()
      page.key(index).append(dropping: 0, to: &key)
      guard key.count == 8, key.bytes[0] == 0xFF else { continue }
      let bytes = key.bytes.array()
      dictionarySlots[Array(bytes[1...4] + bytes[6...7]), default: []].insert(slot)
    }
  }

  /// Whether a piece of a dictionary is in none but these slots.
  func isDictionaryCut(without slots: Set<Int>) -> Bool {
    dictionarySlots.values.contains { $0.isSubset(of: slots) }
  }

  /// The slots with the copies of the first piece of the oldest dictionary.
  var firstDictionaryPiece: Set<Int>? {
    dictionarySlots.min { $0.key.lexicographicallyPrecedes($1.key) }?.value
  }

  private mutating func noteFacts(_ page: TreePage, _ slot: Int, _ slots: [UInt32: Int]) {
    for index in 0..<page.cellCount {
      var key = ByteBuffer()
      page.key(index).append(dropping: 4, to: &key)
      let end = 1 + Int(key.bytes[0])
      let name = FactName(
        message: MessageID(key.bytes.slice(1, end - 1).repairedText()), kind: key.bytes[end])
      guard name.kind < Self.waitingKind else { continue }
      factSlots[name, default: []].append(
        Set([slot] + chain(page.overflow(index)?.first, slots)))
    }
  }

  /// How many facts there are that need none of these slots.
  func facts(without slots: Set<Int>) -> [FactName: Int] {
    factSlots.compactMapValues { facts in
      let count = facts.count { $0.isDisjoint(with: slots) }
      return count == 0 ? nil : count
    }
  }

  private func chain(_ first: PageNumber?, _ slots: [UInt32: Int]) -> [Int] {
    var chain: [Int] = []
    var number = first ?? .none
    while number != .none, let slot = slots[number.rawValue] {
      chain.append(slot)
      number = Bytes.with(page(in: slot)) { OverflowPage($0).next }
    }
    return chain
  }

  /// Where in the data file a slot lies.
  func range(of slot: Int) -> Range<Int> {
    let start = 2 * MetaSlot.regionByteCount + (slot - 1) * pageByteCount
    return start..<start + pageByteCount
  }

  func page(in slot: Int) -> [UInt8] { Array((files["store"] ?? [])[range(of: slot)]) }

  var slotCount: Int {
    ((files["store"]?.count ?? 0) - 2 * MetaSlot.regionByteCount) / pageByteCount
  }

  /// How many blocks as long as a page lie before the slots.
  var blockCountBefore: Int { 2 * MetaSlot.regionByteCount / pageByteCount }

  func slot(ofBlock block: Int) -> Int { block - blockCountBefore + 1 }

  func block(ofSlot slot: Int) -> Int { slot - 1 + blockCountBefore }

  /// The slots of all pages of a tree on a level.
  func slots(tree: Int, level: Int = 0) -> [Int] {
    (pageSlots[PageRole(tree: tree, level: level)] ?? []).sorted()
  }

  /// The messages that need none of these slots.
  func messages(without slots: Set<Int>) -> Set<MessageID> {
    let whole = messageSlots.merging(besideSlots) { own, beside in
      own.isDisjoint(with: slots) ? own : beside
    }
    return Set(whole.filter { $0.value.isDisjoint(with: slots) }.keys)
  }

  /// The messages of which the record beside the segment needs one of these slots.
  func messagesSetBack(without slots: Set<Int>) -> Set<MessageID> {
    Set(besideSlots.filter { !$0.value.isDisjoint(with: slots) }.keys)
  }

  /// Puts the pages that a data file held earlier behind the last slot, as if the slots that they lay
  /// in had never been written again.
  mutating func keepOldPages(of earlier: [UInt8]) {
    let data = files["store"]?.count ?? 0
    let slots = 2 * MetaSlot.regionByteCount
    let padding = (pageByteCount - (data - slots) % pageByteCount) % pageByteCount
    files["store"]?.append(contentsOf: Array(repeating: UInt8(0), count: padding))
    let whole = (earlier.count - slots) / pageByteCount * pageByteCount
    files["store"]?.append(contentsOf: earlier[slots..<slots + whole])
  }

  // MARK: Damage

  mutating func destroy(_ slots: some Sequence<Int>, _ random: inout SeededGenerator) {
    for slot in slots { fill(range(of: slot), of: "store", &random) }
  }

  /// Overwrites a range of a file with noise, or with zeros.
  mutating func fill(_ range: Range<Int>, of name: String, _ random: inout SeededGenerator) {
    let bytes =
      random.chance(25) ? Array(repeating: UInt8(0), count: range.count) : random.bytes(range.count)
    files[name]?.replaceSubrange(range, with: bytes)
  }

  mutating func destroyMetaSlot(_ index: Int, _ random: inout SeededGenerator) {
    let start = MetaSlot.offset(of: index)
    fill(start..<start + MetaSlot.byteCount, of: "store", &random)
  }

  var directory: MemoryDirectory {
    let directory = MemoryDirectory()
    for (name, bytes) in files { directory[name] = bytes }
    return directory
  }

  // MARK: Salvage

  /// Saves what there is, expecting that the damaged files stay as they are and that the new store is
  /// sound.
  func salvage(_ location: SourceLocation = #_sourceLocation) throws -> Salvaged {
    let damaged = directory
    let target = MemoryDirectory()
    let source = try PageSalvage(in: damaged, name: "store")
    let saved = try MessageSalvage(source).run(in: target, name: "new")
    for name in Self.names {
      let isSame = (damaged[name] ?? []).hasSameBytes(as: files[name] ?? [])
      #expect(isSame, "\(name) has changed", sourceLocation: location)
      #expect((damaged[name] == nil) == (files[name] == nil), "\(name)", sourceLocation: location)
    }
    let store = try MessageStore(in: target, name: "new")
    try store.expectSound(location)
    let content = try StoreContent(store)
    try store.close()
    var files: [String: [UInt8]] = [:]
    for name in Self.names { files[name] = target[name.replacing("store", with: "new")] }
    let facts = try SalvageSubject(files).facts(without: [])
    return Salvaged(
      pages: source.report, saved: saved, content: content, facts: facts, directory: target)
  }
}

extension [SalvageSubject.FactName: Int] {
  /// The facts of which another number was saved, as few words as tell which.
  ///
  /// A message that has lost its last edit shows a version that was history before.
  func differences(to saved: Self, setBack: Set<MessageID> = []) -> [String] {
    Set(keys).union(saved.keys)
      .filter {
        let shown = $0.kind == SalvageSubject.versionKind && setBack.contains($0.message) ? 1 : 0
        return !(((self[$0] ?? 0) - shown)...(self[$0] ?? 0)).contains(saved[$0] ?? 0)
      }
      .map { "\($0.message), kind \($0.kind): \(self[$0] ?? 0), saved \(saved[$0] ?? 0)" }.sorted()
  }
}

/// What became of a salvage.
struct Salvaged {
  let pages: SalvageReport
  let saved: MessageSalvageReport
  let content: StoreContent
  let facts: [SalvageSubject.FactName: Int]
  /// Where the new store is, under the name "new".
  let directory: MemoryDirectory
}

/// Everything that can be seen of a store.
struct StoreContent: Equatable {
  var conversations: [ConversationID: Conversation] = [:]
  var former: [ConversationID: [MemberID]] = [:]
  var order: [ConversationID] = []
  var messages: [MessageID: Message] = [:]
  var threads: [ConversationID: [MessageID]] = [:]
  var localMember: MemberID?

  init(_ store: MessageStore) throws {
    localMember = store.localMember
    try store.read { snapshot in
      try snapshot.forEachConversation { conversation in
        order.append(conversation.id)
        conversations[conversation.id] = conversation
        former[conversation.id] = try snapshot.formerMembers(of: conversation.id)
        let thread = try snapshot.thread(conversation.id)
        for message in try thread.allMessages() {
          messages[message.id] = message
          threads[conversation.id, default: []].append(message.id)
        }
      }
    }
  }

  /// What differs, but for numbers that a new store gives anew.
  func differences(from other: StoreContent) -> [String] {
    var found: [String] = []
    if order != other.order { found.append("the order of conversations") }
    if threads != other.threads { found.append("the order of messages") }
    if localMember != other.localMember { found.append("the local member") }
    for (id, message) in messages where !message.hasSameContent(as: other.messages[id]) {
      found.append("message \(id)")
    }
    for (id, conversation) in conversations {
      if !conversation.looks(like: other.conversations[id]) { found.append("conversation \(id)") }
    }
    return found
  }
}

extension Message {
  /// Equality but for the local order, which each store gives itself.
  func hasSameContent(as other: Message?) -> Bool {
    guard let other else { return false }
    return id == other.id && conversation == other.conversation && sender == other.sender
      && Array(text.utf8) == Array(other.text.utf8) && status == other.status
      && serverTimestamp == other.serverTimestamp && localTime == other.localTime
      && sequence == other.sequence && replyTo == other.replyTo
  }
}

extension Conversation {
  fileprivate func looks(like other: Conversation?) -> Bool {
    guard let other else { return false }
    return id == other.id && participants == other.participants && title == other.title
      && lastActivity == other.lastActivity && unreadCount == other.unreadCount
      && messageCount == other.messageCount && preview == other.preview
  }
}
