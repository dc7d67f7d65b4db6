public import MsgStore
import PageFile

extension MessageStore {
  /// Reads everything and returns what is not as it must be: first what the pages say, then names,
  /// conversations, messages and ids.
  ///
  /// Beyond a thousand findings the rest is only counted.
  ///
  /// The messages and conversations are seen at one moment; writing goes on meanwhile. If that moment
  /// grows too old to be kept, the check begins anew on a newer one, at most three times. Every page is
  /// read at least once, most messages twice; memory grows with the number of conversations only.
  /// Nothing that was read before is believed, so the answer is that of a store just opened.
  ///
  /// - Throws: `storage` when the store cannot be read, is closed or suspended meanwhile, or is written
  ///   to faster than it can be checked (`snapshotExpired`). A finding is only a fault of what is stored.
  public func check() throws(StoreError) -> [Finding] { try core.check() }

  /// The same for tests, which do something between two parts of the check.
  package func check(between: (_ part: Int) -> Void) throws(StoreError) -> [Finding] {
    try core.check(between: between)
  }
}

extension StoreCore {
  func check(between: (_ part: Int) -> Void = { _ in }) throws(StoreError) -> [Finding] {
    let pages = StoreCheck()
    try checkPages { finding in pages.report("\(finding.description)") }
    do {
      return try pages.result
        + read { snapshot in
          try snapshot.check(between: between) + checkMemory(in: snapshot)
        }
    } catch let error as StoreError {
      throw error
    } catch {
      preconditionFailure("the closure throws nothing else")
    }
  }
}

extension StoreSnapshot {
  /// The same as it is to a local member.
  func check(between: (Int) -> Void, localMember: UInt32?) throws(StoreError) -> [Finding] {
    let check = StoreCheck(remembered: view.names)
    let view = view.forgetful()
    view.localMemberNumber = localMember
    let parts = [
      check.work, check.names, check.dictionaries, check.messages, check.conversations,
      check.totals, check.lists,
      check.ids, check.facts, check.receipts, check.sequences, check.clientData,
      check.transfers, check.outbox,
    ]
    for (index, part) in parts.enumerated() {
      between(index)
      do throws(StoreError) {
        try part(view)
      } catch {
        try check.reportDamage(error)
      }
    }
    return check.result
  }
}

/// What holds among the trees of a store.
///
/// Each part reads one or two trees from end to end and looks up in the others what must be there. A
/// part is many operations of the reader, so that the pages that it has read can be freed; their
/// transaction holds them to one moment.
///
///  1. Names and numbers of conversations and members lead to each other, and no number is as high
///     as the next one.
///  2. Every message decodes and has its id entry; every id entry has its message.
///  3. Counters, last message and activity of a conversation are what a count says.
///  4. Every conversation is once in the list, at its time, and in the participants tree if it has
///     any.
///  5. The totals are the sum over the conversations.
///  6. Receipts decode; how far all have come, what the server has told of the local member, and what
///     it has to be told, are what the receipts say.
///  7. The runs of known sequences of a conversation are apart from each other, the one in the
///     summary is above all others, and the number of every message is in one of them.
///  8. What clients keep lies under keys that can be asked for.
///  9. The transfers tree has what the attachments say, and nothing else.
/// 10. What the writer remembers is what the trees say.
/// 11. Of every dictionary there are two whole copies.
/// 12. Every entry of the outbox decodes, is about a conversation that is there, and is in the indexes
///     that lead to it, which lead to nothing else; lanes and totals are what a count says; an entry
///     waits for another where that has to be decided about; receipts are entered only where there is
///     something to tell. What a deleted conversation has left is counted in its lane alone.
final class StoreCheck {
  private static let findingCountMax = 1000
  /// Cells of a tree that are looked at in one operation of the reader.
  private static let operationCellCount = 32

  /// The names of members as the store knows them.
  private let remembered: MemberNames
  private var findings: [Finding] = []
  private var findingCount = 0
  private var recounts: [UInt32: Recount] = [:]
  /// Numbers that belong to no conversation any more, and are being cleared.
  var leftovers: Set<UInt32> = []

  /// What a conversation's messages say of its summary.
  private struct Recount {
    var messageCount = 0
    var unread = UnreadCount()
    /// The time of the newest acknowledged message.
    var newestTime: Int64?
    var activity: Int64 = 0
    var last: ConversationSummary.Last?
  }

  init(remembered: MemberNames = MemberNames()) { self.remembered = remembered }

  func report(_ sentence: String) {
    findingCount += 1
    if findings.count < Self.findingCountMax { findings.append(Finding(sentence)) }
  }

  /// Reports what was proven from bytes; throws any other error, which says nothing of them.
  func reportDamage(_ error: StoreError) throws(StoreError) {
    guard error.isDamage else { throw error }
    report("\(error)")
  }

  var result: [Finding] {
    let rest = findingCount - findings.count
    return rest == 0 ? findings : findings + [Finding("there are \(rest) more findings")]
  }

  /// Runs `body` on every cell of a tree.
  ///
  /// The bytes live as long as the call.
  func walk(
    _ tree: TreeNumber, _ view: StoreView,
    _ body: (_ key: Bytes, _ value: Bytes) throws(StoreError) -> Void
  ) throws(StoreError) {
    var next: [UInt8]? = []
    while let start = next {
      next = try view.within { () throws(StoreError) in
        try walk(tree, from: start, view, body)
      }
    }
  }

  /// The same for some cells from a key on; returns the key to go on from, nil at the end.
  private func walk(
    _ tree: TreeNumber, from start: [UInt8], _ view: StoreView,
    _ body: (_ key: Bytes, _ value: Bytes) throws(StoreError) -> Void
  ) throws(StoreError) -> [UInt8]? {
    var cursor = try view.cursor(tree, from: start)
    var key = ByteBuffer()
    var value = ByteBuffer()
    for _ in 0..<Self.operationCellCount {
      guard cursor.isAtCell else { return nil }
      key.removeAll()
      value.removeAll()
      cursor.appendKey(to: &key)
      try view.append(cursor, to: &value)
      let isLeftover =
        tree != Schema.facts && Schema.treesByConversation.contains(tree)
        && key.bytes.bigEndianNumber(at: 0).map(leftovers.contains) ?? false
      if !isLeftover { try body(key.bytes, value.bytes) }
      try storage { () throws(PageFileError) in _ = try cursor.next() }
    }
    guard cursor.isAtCell else { return nil }
    key.removeAll()
    cursor.appendKey(to: &key)
    return key.bytes.array()
  }
}

/// Rule 1.
extension StoreCheck {
  func names(_ view: StoreView) throws(StoreError) {
    try names(view, Schema.memberNames, .nextMember) { (number) throws(StoreError) in
      [try view.member(number).string]
    }
    try names(view, Schema.conversationNames, .nextConversation) { (number) throws(StoreError) in
      let details = try view.conversations.details(number)
      return ([details.id] + details.aliases).map(\.string)
    }
    try walk(Schema.members, view) { (key, value) throws(StoreError) in
      let name = value.repairedText()
      let number = try view.number(of: name, in: Schema.memberNames)
      if key.count != 4 || number == nil || number != key.bigEndianNumber(at: 0) {
        report("member \"\(name)\" has another number than its entry, or none")
      }
      if let number, let known = remembered[number], !known.string.hasSameBytes(as: name) {
        report("the store remembers member \(number) as \"\(known)\", not as \"\(name)\"")
      }
    }
  }

  private func names(
    _ view: StoreView, _ tree: TreeNumber, _ setting: Setting,
    namesOf: (UInt32) throws(StoreError) -> [String]
  ) throws(StoreError) {
    let next = try view.within { () throws(StoreError) in
      try view.source.value(of: setting) ?? 1
    }
    try walk(tree, view) { (key, value) throws(StoreError) in
      let name = key.repairedText()
      guard let entry = ConversationName(value) else {
        return report("\(Schema.name(of: tree)): \"\(name)\" has no number")
      }
      let number = entry.number
      if !key.isValidUTF8 { report("\(Schema.name(of: tree)): number \(number) has no valid name") }
      if number == 0 || UInt64(number) >= next {
        report("\(Schema.name(of: tree)): \"\(name)\" has number \(number), the next is \(next)")
      }
      do throws(StoreError) {
        let back = try namesOf(number)
        if !back.contains(where: { $0.hasSameBytes(as: name) }) {
          report(
            "\(Schema.name(of: tree)): \"\(name)\" has number \(number), that is \"\(back[0])\"")
        } else if entry.isFormer == back[0].hasSameBytes(as: name) {
          report("\(Schema.name(of: tree)): \"\(name)\" says wrongly whether it is in use")
        }
      } catch .corruptRecord(let tree, let reason) {
        report("\(tree): \(reason)")
      }
    }
  }
}

/// Rules 2 and 3.
extension StoreCheck {
  func messages(_ view: StoreView) throws(StoreError) {
    var summary = ConversationSummary(created: 0)
    var number: UInt32?
    try walkMessages(view, reports: true) { (key, value) throws(StoreError) in
      guard let conversation = key.bigEndianNumber(at: 0), let position = key.dropFirst(4).position
      else { return report("messages: a key of \(key.count) bytes is no position") }
      if leftovers.contains(conversation) { return }
      if conversation != number {
        number = conversation
        do throws(StoreError) {
          var cursor = Cursor(view.source, Schema.conversations)
          summary = try view.conversations.summary(conversation, &cursor)
        } catch .corruptRecord(let tree, let reason) {
          report("\(tree): \(reason)")
          summary = ConversationSummary(created: 0)
        }
      }
      let name = "message \"\(position.id)\" of conversation \(conversation)"
      guard let record = MessageRecord(value),
        let message = StoredMessage(record, at: position.place)
      else { return report("\(name) is no record, or has no valid text") }
      for id in [position.id] + message.traits.names
      where try view.ids.position(of: id, in: conversation) != position {
        report("\(name) has no id entry for \"\(id)\", or one that leads elsewhere")
      }
      try facts(of: message, at: position, name, view, in: conversation)
      if view.names[record.sender] == nil {
        do throws(StoreError) {
          _ = try view.member(record.sender)
        } catch .corruptRecord(_, let reason) {
          report("\(name): \(reason)")
        }
      }
      var recount = recounts[conversation] ?? Recount()
      recount.activity =
        recount.messageCount == 0
        ? position.place.time : max(recount.activity, position.place.time)
      recount.messageCount += 1
      recount.unread = recount.unread + view.receipts.unreadCount(message, at: position, summary)
      if !position.place.isPending { recount.newestTime = position.place.time }
      let isPassedOver =
        position.place.isPending && message.status == .failed
        && recount.newestTime.map { position.place.time < $0 } ?? false
      if !isPassedOver {
        var last = try view.messages.last(message, at: position, in: conversation)
        last.text = Preview.cut(last.text)
        recount.last = last
      }
      recounts[conversation] = recount
    }
  }

  func conversations(_ view: StoreView) throws(StoreError) {
    try walk(Schema.conversations, view) { (key, value) throws(StoreError) in
      guard let number = key.bigEndianNumber(at: 0), key.count <= 5 else {
        return report("conversations: a key has \(key.count) bytes")
      }
      if key.count == 5 { cell(key[4], value, of: number) }
      do throws(StoreError) {
        var cursor = Cursor(view.source, Schema.conversations)
        let summary = try view.conversations.summary(number, &cursor)
        if key.count == 4 { try conversation(number, view, summary) }
      } catch .corruptRecord(let tree, let reason) {
        report("\(tree): \(reason)")
      }
    }
  }

  private func conversation(
    _ number: UInt32, _ view: StoreView, _ summary: ConversationSummary
  ) throws(StoreError) {
    if leftovers.contains(number) { report("conversations: \(number) is being cleared") }
    let details = try view.conversations.details(number)
    let name = "conversation \"\(details.id)\""
    let recount = recounts[number] ?? Recount()
    if summary.messageCount != recount.messageCount {
      report("\(name) says \(summary.messageCount) messages and has \(recount.messageCount)")
    }
    if summary.unreadCount != recount.unread.messages {
      report("\(name) says \(summary.unreadCount) unread and has \(recount.unread.messages)")
    }
    if summary.mentionCount != recount.unread.mentions {
      report(
        "\(name) says \(summary.mentionCount) unread mentions and has \(recount.unread.mentions)")
    }
    if summary.last != recount.last { report("\(name) shows another message than its last") }
    if summary.activity != recount.activity {
      report("\(name) says activity \(summary.activity) and has \(recount.activity)")
    }
    for id in [details.id] + details.aliases
    where try view.number(of: id) != number {
      report("\(name) has number \(number), and its name \"\(id)\" leads elsewhere")
    }
    try members(of: number, details, view)
    if let place = summary.listPlace {
      let key = place.key(number)
      if try !contains(key.bytes, Schema.activity, view) { report("\(name) is not in the list") }
    }
  }

  func contains(
    _ key: Bytes, _ tree: TreeNumber, _ view: StoreView
  ) throws(StoreError) -> Bool {
    try view.contains(key, in: tree)
  }

  func ids(_ view: StoreView) throws(StoreError) {
    try walk(Schema.ids, view) { (key, value) throws(StoreError) in
      guard let conversation = key.bigEndianNumber(at: 0), key.count > 4,
        let entry = IDEntry(MessageID(key.dropFirst(4)), value)
      else { return report("ids: an entry of \(key.count) bytes has no place") }
      if leftovers.contains(conversation) { return }
      let id = MessageID(key.dropFirst(4))
      let name = "ids: message \"\(id)\" of conversation \(conversation)"
      switch entry {
      case .deleted: break
      case .alias(let other):
        let fact = FactKey.prefix(conversation, other, .waiting)
        if try !contains(fact.bytes, Schema.facts, view) {
          report("\(name) waits for \"\(other)\", of which nothing is known")
        }
      case .here(let position):
        do throws(StoreError) {
          if try !view.messages.hasMessage(at: position, in: conversation) {
            report("\(name) is not at its place")
          }
        } catch .corruptRecord {
          // That of the segment was reported.
        }
      }
    }
  }
}

/// Rule 4, from the side of the lists.
extension StoreCheck {
  func lists(_ view: StoreView) throws(StoreError) {
    try walk(Schema.activity, view) { (key, value) throws(StoreError) in
      guard let (place, number) = ListPlace.parts(key) else {
        return report("activity: a key of \(key.count) bytes is no place in a list")
      }
      do throws(StoreError) {
        var cursor = Cursor(view.source, Schema.conversations)
        if try view.conversations.summary(number, &cursor).listPlace != place {
          report("activity: an entry of conversation \(number) is not its own")
        }
      } catch .corruptRecord(let other, let reason) {
        report("activity: \(other): \(reason)")
      }
    }
    try list(Schema.participants, view) { (number) throws(StoreError) in
      ConversationMembers.digest(try view.conversations.members(number).active)
    }
  }

  private func list(
    _ tree: TreeNumber, _ view: StoreView, headOf: (UInt32) throws(StoreError) -> UInt64
  ) throws(StoreError) {
    try walk(tree, view) { (key, value) throws(StoreError) in
      guard key.count == 12, let number = key.bigEndianNumber(at: 8) else {
        return report("\(Schema.name(of: tree)): a key has \(key.count) bytes, not 12")
      }
      do throws(StoreError) {
        if try headOf(number) != key.bigEndian64(at: 0) {
          report("\(Schema.name(of: tree)): an entry of conversation \(number) is not its own")
        }
      } catch .corruptRecord(let other, let reason) {
        report("\(Schema.name(of: tree)): \(other): \(reason)")
      }
    }
  }
}

extension MessageStore {
  /// Looks for what is not as it must be without blocking the caller's thread; see `check()`.
  ///
  /// - Throws: `storage` when the store cannot be read at all.
  public func check() async throws(StoreError) -> [Finding] {
    try await onThreadOfItsOwn { [core] () throws(StoreError) in try core.check() }
  }
}
