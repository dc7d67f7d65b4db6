import MsgStore
import PageFile

/// What the format has, each thing with a name: trees, words, kinds of keys, fields and flags; and
/// which of them a store has set.
///
/// Nearly all of the list comes from the code: from the declarations of the records, from its
/// enumerations, and from its sets of bits. `others` has what is read and written by hand.
struct StoredFields {
  /// A cell that is none of its tree.
  struct Malformed: Error {
    let tree: String
  }

  private(set) var names: Set<String> = []

  /// All that a store can have set.
  static var all: Set<String> {
    var all = others
    for layout in RecordLayout.all { all.formUnion(layout.names) }
    all.formUnion(FieldNames.all(of: OutboxSweep()))
    for tree in 0...Schema.work.rawValue { all.insert(name(of: TreeNumber(tree))) }
    for word in StoreWord.allCases { all.insert(name(of: word)) }
    for kind in FactKind.allCases { all.insert("fact: \(kind)") }
    for kind in ReceiptKind.allCases { all.insert("receipt to tell by name: \(kind)") }
    for status in MessageStatus.allCases { all.insert("message: \(status)") }
    for bit in 0..<8 { all.insert("message: flag \(1 << bit)") }
    for bit in 0..<64 - MessageTraits.Bits.known.leadingZeroBitCount {
      all.insert("traits: bit \(1 << bit)")
    }
    // That of mentions follows from the text.
    for tag in MessageTag.builtIn where tag != .mention { all.insert("tag: \(tag)") }
    for code in 0...UInt8.max {
      if let kind = IndexKind(rawValue: code) { all.insert("index: \(kind)") }
      if let kind = NameKey.Kind(rawValue: code) { all.insert("name: \(kind)") }
      if let section = ListPlace.Section(rawValue: code) { all.insert("list: \(section)") }
      if let part = OutboxKey.Part(rawValue: code) { all.insert("outbox keys: \(part)") }
    }
    for prefix in OutboxKey.entryPrefix...OutboxKey.decisionPrefix {
      all.insert("outbox: prefix \(prefix)")
    }
    return all
  }

  private static let others: Set<String> = [
    "setting: schema version", "setting: local member", "setting: a dictionary",
    "message id: here", "message id: another name", "message id: deleted",
    "message id: waiting alias", "message: in a segment", "segment: with a dictionary",
    "segment: messages beside it", "segment: unread counts", "traits: further attempts",
    "traits: next attempt", "traits: failure", "tag: own", "own field: local", "own field: time",
    "own field: value", "own field: long value", "own field: removed", "version: original",
    "version: edit", "version: compressed", "version: server's id", "run of known sequences",
    "tag key: count", "tag key: entry", "tag key: everywhere", "tag key: name",
    "expiry: messages", "expiry: mute", "expiry: border", "client data: store",
    "client data: conversation",
  ]

  private static func name(of tree: TreeNumber) -> String { "tree: \(Schema.name(of: tree))" }
  private static func name(of word: StoreWord) -> String { "word: \(word)" }

  /// Reads the files of a store named "store".
  init(_ files: MemoryDirectory) throws {
    let cells = Cells(files)
    for number in 0...Schema.work.rawValue {
      let tree = TreeNumber(number)
      for cell in try cells.all(number) {
        names.insert(Self.name(of: tree))
        try Bytes.with(cell.key) { key in
          try Bytes.with(cell.value) { value in try add(key, value, in: tree) }
        }
      }
    }
    for word in StoreWord.allCases where try cells.word(word) != 0 {
      names.insert(Self.name(of: word))
    }
    for record in try Self.messages(files, cells) {
      try Bytes.with(record) { try add(message: $0) }
    }
  }

  /// Returns the records of all messages, those in segments as they are outside.
  private static func messages(_ files: MemoryDirectory, _ cells: Cells) throws -> [[UInt8]] {
    let found = try cells.all(Cells.messagesTree)
    let store = try MessageStore(
      in: files.copy(), name: "store", options: StoreOptions(access: .readOnly))
    defer { try? store.close() }
    return try store.read { chat in
      try chat.within { (view) throws(StoreError) in
        var records: [[UInt8]] = []
        for cell in found {
          guard Bytes.with(cell.value, { Segment.isSegment($0) }) else {
            records.append(cell.value)
            continue
          }
          var run = MessageRun()
          try Bytes.with(cell.key) { (key) throws(StoreError) in
            try Bytes.with(cell.value) { (value) throws(StoreError) in
              _ = try view.messages.unpack(value, at: key, to: &run)
            }
          }
          for index in 0..<run.count { records.append(run.record(index).array()) }
        }
        return records
      }
    }
  }

  private mutating func add<Record: FieldRecord>(_ type: Record.Type, _ value: Bytes) throws {
    guard let found = FieldNames.set(in: type, value) else {
      throw Malformed(tree: "\(Record.self)")
    }
    names.formUnion(found)
  }

  private mutating func add(_ key: Bytes, _ value: Bytes, in tree: TreeNumber) throws {
    guard let kinds = Self.kinds(key, value, in: tree) else {
      throw Malformed(tree: Schema.name(of: tree))
    }
    names.formUnion(kinds)
    if let type = Schema.recordType(key, in: tree) { return try add(type, value) }
    switch tree {
    case Schema.names where key[0] == NameKey.Kind.conversation.rawValue:
      try add(ConversationName.self, value)
    case Schema.work where key[0] == OutboxKey.sweepPrefix: try add(OutboxSweep.self, value)
    case Schema.facts: try add(fact: key, value)
    default: break
    }
  }
}

// MARK: Keys

extension StoredFields {
  /// Returns the kinds that a cell is of, by its key above all; nil if it is malformed.
  private static func kinds(_ key: Bytes, _ value: Bytes, in tree: TreeNumber) -> [String]? {
    switch tree {
    case Schema.settings:
      return ["setting: \(key[0] == 0xFF ? "a dictionary" : key.repairedText())"]
    case Schema.names: return NameKey.parts(key).map { ["name: \($0.kind)"] }
    case Schema.conversations:
      if case .exact(_, let kind, _, _)? = ReceiptKey.parts(key) {
        return ["receipt to tell by name: \(kind)"]
      }
      return KnownSequences.run(key, value) == nil ? [] : ["run of known sequences"]
    case Schema.activity: return ListPlace.parts(key).map { ["list: \($0.place.section)"] }
    case Schema.expiry:
      if key.count == 1 { return ["expiry: border"] }
      return ExpiryKey(key).map { [$0.moment == nil ? "expiry: mute" : "expiry: messages"] }
    case Schema.messages: return segment(value)
    case Schema.ids: return entry(MessageID(key.dropFirst(4)), value)
    case Schema.facts: return FactKey.parts(key).map { ["fact: \($0.kind)"] }
    case Schema.index: return key.indexKind.map { ["index: \($0)"] + tagKey(key) }
    case Schema.client:
      return ClientKey.parts(key).map {
        ["client data: \($0.conversation == ClientKey.store ? "store" : "conversation")"]
      }
    case Schema.work where key[0] >= OutboxKey.entryPrefix:
      let part = OutboxKey.conversationParts(key).map { "outbox keys: \($0.part)" }
      return ["outbox: prefix \(key[0])"] + (part.map { [$0] } ?? [])
    default: return []
    }
  }

  private static func segment(_ value: Bytes) -> [String] {
    guard Segment.isSegment(value), let header = SegmentHeader(value) else { return [] }
    var kinds = ["message: in a segment"]
    if SegmentHeader.dictionary(value) ?? 0 > 0 { kinds.append("segment: with a dictionary") }
    if header.hasBeside { kinds.append("segment: messages beside it") }
    if header.unread != nil { kinds.append("segment: unread counts") }
    return kinds
  }

  private static func entry(_ id: MessageID, _ value: Bytes) -> [String]? {
    switch IDEntry(id, value) {
    case .here(let position)?:
      ["message id: \(position.id == id ? "here" : "another name")"]
    case .deleted?: ["message id: deleted"]
    case .alias?: ["message id: waiting alias"]
    case nil: nil
    }
  }

  private static func tagKey(_ key: Bytes) -> [String] {
    switch TagKey.parts(key) {
    case .count?: ["tag key: count"]
    case .entry?: ["tag key: entry"]
    case .everywhere?: ["tag key: everywhere"]
    case .name?: ["tag key: name"]
    case nil: []
    }
  }
}

// MARK: What is read by hand

extension StoredFields {
  private mutating func add(message bytes: Bytes) throws {
    guard let message = MessageRecord(bytes), let traits = message.traits() else {
      throw Malformed(tree: "message")
    }
    names.insert("message: \(message.status)")
    for bit in 0..<8 where message.flags.rawValue >> bit & 1 != 0 {
      names.insert("message: flag \(1 << bit)")
    }
    for bit in 0..<32 where traits.bits.rawValue >> bit & 1 != 0 {
      names.insert("traits: bit \(1 << bit)")
    }
    if traits.sending.retryCount > 0 { names.insert("traits: further attempts") }
    if traits.sending.retryAt != nil { names.insert("traits: next attempt") }
    if traits.sending.failure != nil { names.insert("traits: failure") }
    if !traits.tags.isDisjoint(with: .own) { names.insert("tag: own") }
    for tag in MessageTag.builtIn {
      guard let number = tag.fixedNumber, traits.tags.contains(TagSet(number: number)) else {
        continue
      }
      names.insert("tag: \(tag)")
    }
    for field in traits.ownFields.all {
      if field.isLocal { names.insert("own field: local") }
      if field.time != nil { names.insert("own field: time") }
      switch field.content {
      case .removed: names.insert("own field: removed")
      case .value: names.insert("own field: value")
      case .large: names.insert("own field: long value")
      }
    }
  }

  private mutating func add(fact key: Bytes, _ value: Bytes) throws {
    guard let (_, _, kind, rest) = FactKey.parts(key) else { throw Malformed(tree: "facts") }
    switch kind {
    case .version:
      names.insert(rest.count == 1 ? "version: original" : "version: edit")
      if value[1] & 1 != 0 { names.insert("version: compressed") }
      if value[1] & 2 != 0 { names.insert("version: server's id") }
    case .reaction, .removedReaction: try add(ReactionRecord.self, value)
    case .emojiCount: try add(EmojiCountRecord.self, value)
    case .emojiRank: break
    case .attachment: try add(AttachmentRecord.self, value)
    case .receipt: try add(ExactReceipt.self, value)
    case .waiting: try add(WaitingFacts.self, value)
    case .waitingMark: try add(WaitingMark.self, value)
    case .tag: try add(TagRecord.self, value)
    case .ownField: try add(OwnFieldRecord.self, value)
    }
  }
}
