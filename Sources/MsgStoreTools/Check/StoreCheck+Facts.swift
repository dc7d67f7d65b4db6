import MsgStore
import PageFile

/// Checks of facts: marks in a message's record announce its facts, and all other facts wait.
extension StoreCheck {
  /// Checks that the marks of a message agree with its facts.
  func facts(
    of message: StoredMessage, at position: MessagePosition, _ name: String, _ view: StoreView,
    in conversation: UInt32
  ) throws(StoreError) {
    let id = message.id(at: position)
    try ownFields(message.traits.ownFields, of: id, name, view, in: conversation)
    guard !message.traits.marks.isDisjoint(with: MessageTraits.Bits.facts) else { return }
    let marks: [(MessageTraits.Bits, String)] = [
      (.versions, "versions"), (.reactions, "reactions"), (.attachments, "attachments"),
      (.receipts, "receipts"), (.tagged, "tags"),
    ]
    for (mark, what) in marks where message.traits.marks.contains(mark) {
      var isFound = false
      for kind in FactKind.allCases where kind.mark == mark && !kind.isDerived && !isFound {
        let prefix = FactKey.prefix(conversation, id, kind)
        var cursor = Cursor(view.source, Schema.facts)
        try storage { () throws(PageFileError) in _ = try cursor.seek(prefix.bytes) }
        isFound = cursor.isAtCell && cursor.keyHasPrefix(prefix.bytes)
      }
      if !isFound { report("\(name): marked as having \(what), but none found") }
    }
    try reactionCounts(of: message, named: id, name, view, in: conversation)
    try awaited(of: message, at: position, name, view, in: conversation)
  }

  /// Checks that the members for whom an own message waits lack it, and that all have it where it
  /// says so.
  private func awaited(
    of message: StoredMessage, at position: MessagePosition, _ name: String, _ view: StoreView,
    in conversation: UInt32
  ) throws(StoreError) {
    guard let awaited = message.traits.awaited, !position.place.isPending,
      message.sender == view.localMemberNumber,
      message.status == .sent || message.status == .delivered
    else { return }
    let id = message.id(at: position)
    func receipt(_ member: UInt32) throws(StoreError) -> ExactReceipt {
      let key = FactKey.key(conversation, id, .receipt, member: member)
      let known: ExactReceipt? = try view.record(key)
      return known ?? ExactReceipt()
    }
    for kind in ReceiptKind.allCases {
      if awaited[kind] > 0 {
        if try receipt(awaited[kind]).has(kind) {
          report("\(name): waits for member \(awaited[kind]), who has it (\(kind))")
        }
        continue
      }
      guard awaited.comings == (try view.receipts.receipts(conversation).comings) else { continue }
      let members = try view.conversations.members(conversation)
      for recipient in members.recipients(without: message.sender)
      where recipient.wasIn(at: position) {
        if try receipt(recipient.number).has(kind) { continue }
        let marks = try view.receipts.receipts(of: recipient.number, in: conversation)
        if !marks.has(kind, at: position) {
          report("\(name): waits for nobody, but member \(recipient.number) lacks it (\(kind))")
        }
      }
    }
  }

  private func reactionCounts(
    of message: StoredMessage, named id: MessageID, _ name: String, _ view: StoreView,
    in conversation: UInt32
  ) throws(StoreError) {
    var found = ReactionCounts()
    var others: [ReactionCount] = []
    if message.traits.reactionCounts != nil {
      found = try view.facts.reactionCounts(of: id, in: conversation)
      others = found.keepMostUsed()
    }
    if let stored = message.traits.reactionCounts, stored != found {
      report(
        "\(name): wrong numbers of reactions (stored \(Self.text(stored)), "
          + "found \(Self.text(found)))")
    }
    var isRight = true
    var rest = others[...]
    try view.facts.forEachRarerEmoji(of: id, in: conversation) {
      isRight = isRight && $0 == rest.popFirst()
      return isRight
    }
    if !isRight || !rest.isEmpty {
      report("\(name): wrong numbers of reactions with rarer emoji (found \(others.count) emoji)")
    }
  }

  private static func text(_ counts: ReactionCounts) -> String {
    let parts = counts.all.map { "\($0.count) \($0.emoji)\($0.isOwn ? " with the own one" : "")" }
    return parts.isEmpty ? "none" : parts.joined(separator: ", ")
  }

  /// Checks that every fact decodes, and belongs to a message with its mark or to a waiting one.
  func facts(_ view: StoreView) throws(StoreError) {
    var waitingCount = 0
    try walk(Schema.facts, view) { (key, value) throws(StoreError) in
      guard let (conversation, id, kind, rest) = FactKey.parts(key) else {
        return report("facts: malformed key (\(key.count) bytes)")
      }
      let name = "facts: message \"\(id)\" of conversation \(conversation)"
      if !Schema.canReadFact(kind, rest, value) {
        report("\(name): malformed \(kind) record")
      }
      if kind == .attachment { try attachment(key, value, name, view) }
      if kind == .tag, let (tag, _) = TagRecord.parts(rest, value), try view.tags.tag(tag) == nil {
        report("\(name): tag \(tag) without a name")
      }
      if kind == .waiting {
        waitingCount += 1
        try waiting(value, name, id, view, in: conversation)
      }
      if leftovers.contains(conversation) { return }
      if kind == .emojiCount, let rank = EmojiCountRecord.rank(of: rest, value, conversation, id),
        try !view.contains(rank, in: Schema.facts)
      {
        report("\(name): number of an emoji without its rank")
      }
      if kind == .ownField { try ownField(named: rest, of: id, name, view, in: conversation) }
      if try view.contains(FactKey.prefix(conversation, id, .waiting), in: Schema.facts) {
        if kind.isDerived { report("\(name): numbers of reactions to a message that waits") }
        return
      }
      guard let position = try view.ids.position(of: id, in: conversation) else {
        return report("\(name): neither stored nor waiting")
      }
      let message = try view.messages.message(at: position, in: conversation)
      if message.id(at: position) != id { report("\(name): facts under another of its names") }
      if let mark = kind.mark, !message.traits.marks.contains(mark) {
        report("\(name): \(kind) not marked in its record")
      }
    }
    let (count, next) = (view.source.count(.waitingCount), view.source[.nextWaiting])
    if count != waitingCount {
      report("waiting: wrong message count (stored \(count), found \(waitingCount))")
    }
    var listedCount = 0
    try walk(Schema.index, view) { (key, _) in
      guard key.indexKind == .waiting else { return }
      listedCount += 1
      guard let entry = WaitingKey.parts(key) else {
        return report("waiting: malformed entry (key of \(key.count) bytes)")
      }
      if entry.ordinal >= next {
        report("waiting: ordinal \(entry.ordinal) is not below the next one")
      }
    }
    if listedCount != waitingCount {
      report("waiting: wrong entry count (listed \(listedCount), waiting \(waitingCount))")
    }
  }

  private func waiting(
    _ value: Bytes, _ name: String, _ id: MessageID, _ view: StoreView,
    in conversation: UInt32
  ) throws(StoreError) {
    guard let facts = WaitingFacts(value) else { return }
    let key = WaitingKey.key((facts.ordinal, conversation, id))
    if try !view.contains(key, in: Schema.index) { report("\(name): missing from the index") }
  }
}
