package import MsgStore

/// The record in one line of an export.
///
/// See docs/message-format.md, J-1 … J-12, P-7.
///
///     {"kind":"store","local_member":"ann"}
///     {"kind":"conversation","id":"club","participants":["ann","bob"],"title":"Book club"}
///     {"kind":"receipt","conversation":"club","up_to":"m-17"}
///     {"kind":"message","conversation":"club","id":"m-18","sender":"bob","text":"…",…}
///     {"kind":"reaction","conversation":"club","message":"m-18","member":"ann","emoji":"👍",…}
///
///  1. The store's line, if present, comes first.
///  2. A conversation's line precedes everything in it. A conversation without one is made by its
///     first message.
///  3. The messages of a conversation are in its order, which is also the order of those that have
///     no server time.
package enum JSONRecord: Sendable, Equatable {
  case store(JSONStore)
  case member(ExportedProfile)
  case conversation(ExportedConversation)
  case receipt(JSONReceipt)
  case message(ExportedMessage)
  case facts(JSONFacts)
  case reaction(JSONReaction)
  case deleted(JSONDeleted)
  case waiting(ExportedWaiting)
  case sync(JSONSync)
  case sequences(JSONSequences)
  case untold(ExportedUntold)
  case draft(ExportedDraft)
  case outbox(ExportedEntry)
  case unneededFile(JSONFile)

  /// The names of the kinds.
  enum Kind: String {
    case store
    case member
    case conversation
    case receipt
    case message
    case facts
    case reaction
    case deleted
    case waiting
    case sync
    case sequences
    case untold
    case draft
    case outbox
    case unneededFile = "unneeded_file"
  }
}

extension JSONRecord {
  /// Reads a line; nil if its kind is unknown and the reader is lenient.
  init?(_ scanner: inout JSONScanner) throws(StoreToolError) {
    var fields = try JSONObjectReader(&scanner)
    try scanner.expectEnd()
    var name = Kind.message.rawValue
    try fields.always("kind", &name)
    switch Kind(rawValue: name) {
    case .store: self = .store(try Self.read(&fields))
    case .member: self = .member(try Self.read(&fields))
    case .conversation: self = .conversation(try Self.read(&fields))
    case .receipt: self = .receipt(try Self.read(&fields))
    case .message:
      var message = ExportedMessage()
      try message.visit(&fields)
      for register in try fields.takeOwnFields() { message.own.put(register) }
      try fields.finish(ExportedMessage.noun)
      self = .message(message)
    case .facts: self = .facts(try Self.read(&fields))
    case .reaction: self = .reaction(try Self.read(&fields))
    case .deleted: self = .deleted(try Self.read(&fields))
    case .waiting: self = .waiting(try Self.read(&fields))
    case .sync: self = .sync(try Self.read(&fields))
    case .sequences: self = .sequences(try Self.read(&fields))
    case .untold: self = .untold(try Self.read(&fields))
    case .draft: self = .draft(try Self.read(&fields))
    case .outbox: self = .outbox(try Self.read(&fields))
    case .unneededFile: self = .unneededFile(try Self.read(&fields))
    case nil:
      if scanner.isLenient { return nil }
      throw .malformedLine(
        line: scanner.lineNumber, column: nil, reason: "unknown kind \"\(name)\"")
    }
  }

  private static func read<V: JSONObjectValue>(
    _ fields: inout JSONObjectReader
  ) throws(StoreToolError) -> V {
    var value = V()
    try value.visit(&fields)
    try fields.finish(V.noun)
    return value
  }

  /// Appends the line, without its line feed.
  func append(to bytes: inout [UInt8]) {
    switch self {
    case .store(let value): Self.append(.store, value, to: &bytes)
    case .member(let value): Self.append(.member, value, to: &bytes)
    case .conversation(let value): Self.append(.conversation, value, to: &bytes)
    case .receipt(let value): Self.append(.receipt, value, to: &bytes)
    case .message(let value): Self.append(.message, value, to: &bytes)
    case .facts(let value): Self.append(.facts, value, to: &bytes)
    case .reaction(let value): Self.append(.reaction, value, to: &bytes)
    case .deleted(let value): Self.append(.deleted, value, to: &bytes)
    case .waiting(let value): Self.append(.waiting, value, to: &bytes)
    case .sync(let value): Self.append(.sync, value, to: &bytes)
    case .sequences(let value): Self.append(.sequences, value, to: &bytes)
    case .untold(let value): Self.append(.untold, value, to: &bytes)
    case .draft(let value): Self.append(.draft, value, to: &bytes)
    case .outbox(let value): Self.append(.outbox, value, to: &bytes)
    case .unneededFile(let value): Self.append(.unneededFile, value, to: &bytes)
    }
  }

  private static func append(
    _ kind: Kind, _ value: some JSONObjectValue, to bytes: inout [UInt8]
  ) {
    var writer = JSONObjectWriter(bytes)
    bytes = []
    var name = kind.rawValue
    writer.required("kind", &name)
    value.append(to: &writer)
    bytes = writer.finish()
  }
}

/// The store itself.
package struct JSONStore: JSONObjectValue, Sendable, Equatable {
  static let noun = "a store"
  package var localMember: MemberID = ""
  /// True if the local member's actions are held.
  package var holdsNewEntries = false
  /// The rule for the history that is kept.
  package var retention: Retention?

  package init() {}
  package init(localMember: MemberID) { self.localMember = localMember }

  mutating func visit(_ fields: inout some JSONFieldVisitor) throws(StoreToolError) {
    try fields.required("local_member", &localMember)
    try fields.flag("holding", &holdsNewEntries)
    try fields.optional("retention", &retention)
  }
}

/// A reaction of a member to a message, or its removal.
package struct JSONReaction: JSONObjectValue, Sendable, Equatable {
  static let noun = "a reaction"
  package var conversation: ConversationID = ""
  package var message: MessageID = ""
  package var reaction = Reaction("", from: "", at: Timestamp(microseconds: 0))
  package var isRemoved = false

  package init() {}

  init(_ reaction: ExportedReaction, to message: MessageID, in conversation: ConversationID) {
    self.conversation = conversation
    self.message = message
    self.reaction = reaction.reaction
    isRemoved = reaction.isRemoved
  }

  mutating func visit(_ fields: inout some JSONFieldVisitor) throws(StoreToolError) {
    try fields.required("conversation", &conversation)
    try fields.required("message", &message)
    try fields.required("member", &reaction.member)
    try fields.required("emoji", &reaction.emoji)
    try fields.required("time_ms", &reaction.time)
    try fields.flag("removed", &isRemoved)
    try fields.optional("server_name", &reaction.serverName)
  }
}

/// The name of a message that was deleted for the local member, and does not come back.
package struct JSONDeleted: JSONObjectValue, Sendable, Equatable {
  static let noun = "a deleted message"
  package var conversation: ConversationID = ""
  package var id: MessageID = ""

  package init() {}

  init(_ id: MessageID, in conversation: ConversationID) {
    self.conversation = conversation
    self.id = id
  }

  mutating func visit(_ fields: inout some JSONFieldVisitor) throws(StoreToolError) {
    try fields.required("conversation", &conversation)
    try fields.required("id", &id)
  }
}

/// A local file that nothing needs any more.
package struct JSONFile: JSONObjectValue, Sendable, Equatable {
  static let noun = "an unneeded file"
  package var path = ""

  package init() {}
  init(_ path: String) { self.path = path }

  mutating func visit(_ fields: inout some JSONFieldVisitor) throws(StoreToolError) {
    try fields.required("path", &path)
  }
}
