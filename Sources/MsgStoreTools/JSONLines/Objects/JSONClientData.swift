package import MsgStore

/// Data that the client keeps for itself: its position in what a server sends.
package struct JSONSync: JSONObjectValue, Sendable, Equatable {
  static let noun = "a sync position"
  /// The conversation of the position; nil for a position of the whole store.
  package var conversation: ConversationID?
  package var key = ""
  package var bytes: [UInt8] = []

  package init() {}

  init(_ position: SyncPosition, in conversation: ConversationID?) {
    self.conversation = conversation
    key = position.key
    bytes = position.bytes
  }

  mutating func visit(_ fields: inout some JSONFieldVisitor) throws(StoreToolError) {
    try fields.optional("conversation", &conversation)
    try fields.required("key", &key)
    var digits = JSONBytes(bytes)
    try fields.required("bytes", &digits)
    bytes = digits.bytes
  }
}

/// Sequence numbers that are known without a message that has them.
package struct JSONSequences: JSONObjectValue, Sendable, Equatable {
  static let noun = "known sequences"
  package var conversation: ConversationID = ""
  package var known: [ClosedRange<Int64>] = []

  package init() {}

  init(_ known: [ClosedRange<Int64>], in conversation: ConversationID) {
    self.conversation = conversation
    self.known = known
  }

  mutating func visit(_ fields: inout some JSONFieldVisitor) throws(StoreToolError) {
    try fields.required("conversation", &conversation)
    try fields.required("known", &known)
  }
}

/// A run of numbers: the first and the last of them.
extension ClosedRange: JSONValue where Bound == Int64 {
  init(_ scanner: inout JSONScanner) throws(StoreToolError) {
    let place = scanner.mark()
    let ends = try [Int64](&scanner)
    guard ends.count == 2, ends[0] <= ends[1] else {
      throw scanner.error("run: expected its first and last number", at: place)
    }
    self = ends[0]...ends[1]
  }

  func append(to bytes: inout [UInt8]) { [lowerBound, upperBound].append(to: &bytes) }
}

/// The profile of a member.
extension ExportedProfile: JSONObjectValue {
  static var noun: String { "a member" }

  mutating func visit(_ fields: inout some JSONFieldVisitor) throws(StoreToolError) {
    try fields.required("id", &member)
    try fields.optional("name", &name)
    try fields.optional("picture", &picture)
    try fields.optional("version", &version, assumed: 0)
    try fields.optional("fetched_ms", &fetchedAt)
    try fields.flag("forgotten", &isForgotten)
    try fields.flag("no_profile", &hasNoProfile)
    try fields.ownFields(&own)
  }
}
