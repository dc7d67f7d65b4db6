public import MsgStore
import PageFile

extension MessageStore {
  /// Checks the whole store and returns the faults found.
  ///
  /// Faults of pages come first, then those of names, conversations, messages and ids. After a
  /// thousand findings the rest is only counted.
  ///
  /// Messages and conversations are read from one snapshot; writing continues meanwhile. If the
  /// snapshot grows too old to be kept, the check starts over on a newer one, at most three times.
  /// Every page is read at least once, most messages twice; memory grows with the number of
  /// conversations only. No cached data is trusted, so the result is that of a freshly opened
  /// store.
  ///
  /// - Throws: `storage` if the store cannot be read, is closed or suspended meanwhile, or is
  ///   written faster than it can be checked (`snapshotExpired`). Findings are faults of the stored
  ///   data only.
  public func check() throws(StoreError) -> [CheckFinding] { try core.check() }

  /// Checks the store and calls `between` before each of its parts.
  ///
  /// - Parameter between: Gets the number of the part that begins, below `checkPartCount`.
  package func check(
    between: (_ part: Int) -> Void
  ) throws(StoreError) -> [CheckFinding] {
    try core.check(between: between)
  }

  /// The number of parts of a check.
  package static var checkPartCount: Int { 20 }
}

extension StoreCore {
  func check(between: (_ part: Int) -> Void = { _ in }) throws(StoreError) -> [CheckFinding] {
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
      preconditionFailure("closure: threw an error other than StoreError")
    }
  }
}

extension StoreSnapshot {
  /// Returns the findings of a check, with unread messages counted for a given local member.
  func check(between: (Int) -> Void, localMember: UInt32?) throws(StoreError) -> [CheckFinding] {
    let check = StoreCheck(remembered: view.names)
    let view = view.forgetful()
    view.localMemberNumber = localMember
    let parts = [
      check.work, check.names, check.dictionaries, check.messages, check.conversations,
      check.totals, check.lists,
      check.ids, check.facts, check.receipts, check.memberships, check.sequences, check.clientData,
      check.transfers, check.outbox, check.directory, check.replies, check.tags,
      check.retention, check.expiry,
    ]
    assert(parts.count == MessageStore.checkPartCount, "parts: not as many as stated")
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

/// A check of the rules that hold among the trees of a store.
///
/// Each part reads one or two trees from end to end and looks up the matching entries in the
/// others. A part consists of many reader operations, so that the pages it has read can be freed;
/// their transaction keeps them on one snapshot.
///
///  1. Names and numbers of conversations and members lead to each other, and all numbers are below
///     the next one.
///  2. Every message decodes and has its id entry; every id entry has its message. Every record
///     beside a segment is that of one of its messages.
///  3. Counters, last message and activity of a conversation agree with a recount.
///  4. Every conversation is once in the list, at its time, and is found by its participants if it
///     has any. Its members are in one value, or have a cell each.
///  5. The totals are the sum over the conversations.
///  6. Receipts decode. The marks of the other members, the local member's mark told by the server,
///     and the pending receipts agree with the receipts.
///  7. The runs of known sequences of a conversation do not touch, the one in the summary is above
///     all others, and the sequence of every message is in one of them.
///  8. Client data lies under valid keys.
///  9. The index has exactly the keys that follow from the attachments, and lists no file that one
///     of them needs.
/// 10. The writer's memory agrees with the trees.
/// 11. Every dictionary has two complete copies.
/// 12. Every outbox entry decodes, is about a conversation that exists, and is in its indexes,
///     which have no other entries. Lanes and totals agree with a recount. An entry is blocked
///     exactly while one that it needs awaits a decision. Receipts are entered only where some are
///     pending. Entries left by a deleted conversation are counted in its lane alone.
/// 13. Every profile decodes and is that of a member.
/// 14. The index has exactly the entries of replies that follow from the messages.
/// 15. The index has exactly the entries and counts of tags that follow from the messages.
/// 16. Every record of the history that is kept decodes, says something, and is that of a
///     conversation or the store's.
/// 17. The expiry tree has exactly the entries that follow from the messages and from the mutes
///     that end. Messages before the place that counters have reached are marked as expired, and
///     count nowhere else; conversations with such mutes are not marked as muted.
final class StoreCheck {
  private static let maximumFindingCount = 1000
  /// The number of cells read in one reader operation.
  private static let operationCellCount = 32

  /// The store's cache of member names.
  private let remembered: MemberNames
  private var findings: [CheckFinding] = []
  private var findingCount = 0
  var recounts: [UInt32: Recount] = [:]
  /// Numbers that no longer belong to a conversation and are being cleared.
  var leftovers: Set<UInt32> = []
  /// The pinned and the starred messages of all conversations, by the numbers of the tags.
  var taggedEverywhere: [UInt8: EverywhereSum] = [:]

  /// A conversation's summary as counted from its messages.
  struct Recount {
    var messageCount = 0
    var unread = UnreadCount()
    /// The time of the newest acknowledged message.
    var newestTime: Int64?
    var activity: Int64 = 0
    var last: ConversationSummary.Last?
    var replies = ReplySum()
    var expiry = ExpirySum()
    /// By the numbers of the tags.
    var tags: [UInt8: TagSum] = [:]
  }

  init(remembered: MemberNames = MemberNames()) { self.remembered = remembered }

  func report(_ sentence: String) {
    findingCount += 1
    if findings.count < Self.maximumFindingCount { findings.append(CheckFinding(sentence)) }
  }

  /// Reports an error that proves damage; rethrows any other, which says nothing about the stored
  /// data.
  func reportDamage(_ error: StoreError) throws(StoreError) {
    guard error.isDamage else { throw error }
    report("\(error)")
  }

  /// Runs a part of the check, and reports a corrupt record that it meets.
  func reporting(
    _ name: String = "", _ body: () throws(StoreError) -> Void
  ) throws(StoreError) {
    do throws(StoreError) {
      try body()
    } catch .corruptRecord(let tree, let reason) {
      report("\(name)\(tree): \(reason)")
    }
  }

  var result: [CheckFinding] {
    let rest = findingCount - findings.count
    return rest == 0 ? findings : findings + [CheckFinding("\(rest) more findings")]
  }

  /// Runs `body` on every cell of a tree.
  ///
  /// The bytes are valid during the call only.
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

  /// Runs `body` on some cells beginning at a key; returns the key to continue from, nil at the
  /// end.
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
      if !isLeftover(key.bytes, in: tree) { try body(key.bytes, value.bytes) }
      try storage { () throws(PageFileError) in _ = try cursor.next() }
    }
    guard cursor.isAtCell else { return nil }
    key.removeAll()
    cursor.appendKey(to: &key)
    return key.bytes.array()
  }
}

extension StoreCheck {
  /// Returns true if a cell is one that is still to be swept or moved.
  ///
  /// Of a conversation that goes, the summary and the details go first.
  private func isLeftover(_ key: Bytes, in tree: TreeNumber) -> Bool {
    guard tree != Schema.facts, Schema.treesByConversation.contains(tree),
      let number = key.bigEndianNumber(at: 0), leftovers.contains(number)
    else { return false }
    return tree != Schema.conversations
      || key.count > 4 && key[4] >= ReceiptKey.ownSuffix
  }
}

/// Rule 1: names and numbers.
extension StoreCheck {
  func names(_ view: StoreView) throws(StoreError) {
    let nextMember = max(1, view.source[.nextMember])
    let nextConversation = max(1, view.source[.nextConversation])
    try walk(Schema.names, view) { (key, value) throws(StoreError) in
      guard let (kind, rest) = NameKey.parts(key) else {
        return report("names: malformed key (\(key.count) bytes)")
      }
      switch kind {
      case .conversation:
        try name("conversation", rest, value, below: nextConversation) {
          (number) throws(StoreError) in
          let details = try view.conversations.details(number)
          return ([details.id] + details.aliases).map(\.string)
        }
      case .member:
        try name("member", rest, value, below: nextMember) { (number) throws(StoreError) in
          [try view.member(number).string]
        }
      case .participants: try participants(key, view)
      }
    }
    try walk(Schema.index, view) { (key, value) throws(StoreError) in
      if key.indexKind == .member { try number(key, value, view) }
    }
  }

  /// Checks the number that a name leads to, and the names that lead back.
  private func name(
    _ subject: String, _ key: Bytes, _ value: Bytes, below next: UInt64,
    namesOf: (UInt32) throws(StoreError) -> [String]
  ) throws(StoreError) {
    let name = key.repairedText()
    guard let entry = ConversationName(value) else {
      return report("names: \(subject) \"\(name)\": malformed entry")
    }
    let number = entry.number
    if !key.isValidUTF8 { report("names: \(subject) of number \(number): invalid UTF-8") }
    if number == 0 || UInt64(number) >= next {
      report("names: \(subject) \"\(name)\": number \(number) out of range (next \(next))")
    }
    try reporting { () throws(StoreError) in
      let back = try namesOf(number)
      if !back.contains(where: { $0.hasSameBytes(as: name) }) {
        report("names: \(subject) \"\(name)\": number \(number) belongs to \"\(back[0])\"")
      } else if entry.isFormer == back[0].hasSameBytes(as: name) {
        report("names: \(subject) \"\(name)\": wrong in-use flag")
      }
    }
  }

  /// Checks the way back from the number of a member.
  private func number(_ key: Bytes, _ value: Bytes, _ view: StoreView) throws(StoreError) {
    let name = value.repairedText()
    let number = try view.number(of: MemberID(name))
    if number == nil || number != MemberKey.number(key) {
      report("names: member \"\(name)\": number missing or different from its entry")
    }
    if let number, let known = remembered[number], !known.string.hasSameBytes(as: name) {
      report("name cache: member \(number) is \"\(known)\" (stored \"\(name)\")")
    }
  }

  /// Checks that a conversation is found by no other set of members than its own.
  private func participants(_ key: Bytes, _ view: StoreView) throws(StoreError) {
    guard let (digest, conversation) = ParticipantsKey.parts(key) else {
      return report("names: participants: malformed key (\(key.count) bytes)")
    }
    try reporting("names: participants: ") { () throws(StoreError) in
      let active = try view.conversations.members(conversation).active
      let expected =
        try view.conversations.details(conversation).roster == nil
        ? ConversationMembers.digest(active) : Roster.digest(active)
      if digest != expected {
        report("names: participants of conversation \(conversation): wrong digest")
      }
    }
  }
}

/// Rule 4, from the side of the lists.
extension StoreCheck {
  func lists(_ view: StoreView) throws(StoreError) {
    try walk(Schema.activity, view) { (key, value) throws(StoreError) in
      guard let (place, number) = ListPlace.parts(key) else {
        return report("activity: key of \(key.count) bytes does not decode to a place")
      }
      try reporting("activity: ") { () throws(StoreError) in
        if try view.conversations.summary(number).listPlace != place {
          report("activity: entry of conversation \(number): disagrees with the summary")
        }
      }
    }
  }
}

extension MessageStore {
  /// Checks the whole store without blocking the caller's thread; see `check()`.
  ///
  /// - Throws: `storage` if the store cannot be read at all.
  public func check() async throws(StoreError) -> [CheckFinding] {
    try await onThreadOfItsOwn { [core] () throws(StoreError) in try core.check() }
  }
}
