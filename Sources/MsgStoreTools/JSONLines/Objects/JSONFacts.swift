package import MsgStore

/// Further facts of a message, or of one that facts wait for, which make its own line too long.
package struct JSONFacts: JSONObjectValue, Sendable, Equatable {
  static let noun = "further facts"
  package var conversation: ConversationID = ""
  package var message: MessageID = ""
  /// The facts, except reactions, which have lines of their own.
  package var facts = ExportedFacts()

  package init() {}

  init(_ facts: ExportedFacts, of message: MessageID, in conversation: ConversationID) {
    self.conversation = conversation
    self.message = message
    self.facts = facts
  }

  mutating func visit(_ fields: inout some JSONFieldVisitor) throws(StoreToolError) {
    try fields.required("conversation", &conversation)
    try fields.required("message", &message)
    try fields.list("history", &facts.history)
    try fields.list("attachments", &facts.attachments)
    try fields.list("receipts", &facts.receipts)
    try fields.list("waiting_marks", &facts.waitingMarks)
    try fields.list("tags", &facts.tags)
  }
}

/// The facts of a message that are not in its line.
package struct SplitFacts {
  /// Facts in parts, each for a line.
  package fileprivate(set) var parts: [ExportedFacts] = []
  package fileprivate(set) var reactions: [ExportedReaction] = []

  func forEachRecord<Failure: Error>(
    of id: MessageID, in conversation: ConversationID,
    _ body: (JSONRecord) throws(Failure) -> Void
  ) throws(Failure) {
    for part in parts { try body(.facts(JSONFacts(part, of: id, in: conversation))) }
    for reaction in reactions {
      try body(.reaction(JSONReaction(reaction, to: id, in: conversation)))
    }
  }
}

extension ExportedFacts {
  /// The number of bytes of facts in a line; one fact may have more.
  package static let maximumLineByteCount = 4 << 20

  /// Keeps what fits in the line of the message, and returns the rest.
  ///
  /// How much that is depends on the facts alone, so a restored store is split in the same way.
  package mutating func split(maximumByteCount: Int = Self.maximumLineByteCount) -> SplitFacts {
    var rest = SplitFacts()
    swap(&rest.reactions, &reactions)
    // Nearly always; measuring costs as much as writing.
    if greatestByteCount <= maximumByteCount { return rest }
    var splitter = FactSplitter(maximumByteCount: maximumByteCount)
    splitter.add(history, \.history)
    // In another line the index in the list is not the index among all.
    var attachments = attachments
    for index in attachments.indices where attachments[index].index == nil {
      attachments[index].index = UInt32(clamping: index)
    }
    splitter.add(attachments, \.attachments)
    splitter.add(receipts, \.receipts)
    splitter.add(waitingMarks, \.waitingMarks)
    splitter.add(tags, \.tags)
    guard splitter.parts.count > 1 else { return rest }
    var first = splitter.parts[0]
    for index in first.attachments.indices {
      first.attachments[index].index = self.attachments[index].index
    }
    self = first
    rest.parts = Array(splitter.parts.dropFirst())
    return rest
  }
}

extension ExportedFacts {
  /// The number of bytes that the facts have in a line at most, without reactions.
  private var greatestByteCount: Int {
    // An id has up to 255 bytes, and a byte of text six in an escape.
    let idByteCount = 6 * 255 + 64
    func escaped(_ text: String?) -> Int { 6 * (text?.utf8.count ?? 0) }
    var sum = (receipts.count + waitingMarks.count + tags.count) * 2 * idByteCount
    for version in history {
      sum += escaped(version.text) + (version.mentions.count + 2) * idByteCount
    }
    for fact in attachments {
      let attachment = fact.attachment
      let texts = [
        attachment.remoteURL, attachment.thumbnailURL, attachment.localPath, attachment.fileName,
        attachment.mimeType, fact.upload.failureText, fact.download.failureText,
      ]
      sum += texts.reduce(4 * idByteCount) { $0 + escaped($1) }
      sum += 2 * ((attachment.preview?.count ?? 0) + (attachment.contentHash?.count ?? 0))
    }
    return sum
  }
}

extension AttachmentTransfer {
  fileprivate var failureText: String? {
    if case .failed(let failure, _) = self { failure.text } else { nil }
  }
}

/// Distributes facts among lines, in their order.
private struct FactSplitter {
  let maximumByteCount: Int
  var parts = [ExportedFacts()]
  private var byteCount = 0
  private var bytes: [UInt8] = []

  init(maximumByteCount: Int) { self.maximumByteCount = maximumByteCount }

  mutating func add<V: JSONValue>(_ values: [V], _ list: WritableKeyPath<ExportedFacts, [V]>) {
    for value in values {
      bytes.removeAll(keepingCapacity: true)
      value.append(to: &bytes)
      if byteCount > 0, byteCount + bytes.count > maximumByteCount {
        parts.append(ExportedFacts())
        byteCount = 0
      }
      byteCount += bytes.count
      parts[parts.count - 1][keyPath: list].append(value)
    }
  }
}
