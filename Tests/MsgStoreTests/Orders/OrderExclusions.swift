import MsgStore

/// What docs/message-format.md excludes from "any order", in the table of [G-10].
enum OrderExclusions {
  /// Returns true if the order of facts of a kind makes no difference after a beginning.
  static func allows(
    _ kind: OrderKind, after beginning: OrderBeginning, isConsistent: Bool
  ) -> Bool {
    switch kind {
    // Numbers of one of two conversations are known of that one alone ([C-19]).
    case .absent: !beginning.merges
    // A copy that was refused leaves nothing, so of two times of a server that contradicts itself
    // the first one decides ([C-16]).
    case .deletion: isConsistent
    // A complete list removes what it lacks. These have all messages of the facts, but neither
    // those that the beginning added nor what has another name.
    case .wholeList: beginning.messages.isEmpty && isConsistent && !beginning.isOwn
    // [P-3]: what is spared depends on what is there; history alone is pruned the same.
    case .retention:
      beginning.messages.isEmpty && !beginning.merges && !beginning.isOwn && isConsistent
    default: true
    }
  }

  /// Returns the name under which a deletion tells of a conversation after a beginning.
  ///
  /// What is told of a message on its way, under a name that its conversation gets only later, goes
  /// with a deletion under that name ([C-16]).
  static func deletedName(
    _ name: ConversationID, after beginning: OrderBeginning
  ) -> ConversationID {
    beginning.merges && beginning.messages == ["p0"] ? orderLocalRoom : name
  }

  /// Returns facts without those whose order matters beside others of their kind.
  static func without(_ facts: [OrderFact]) -> [OrderFact] {
    var told: Set<String> = []
    return facts.filter { fact in
      switch fact.kind {
      // An outcome comes once, and rules are no facts of the server: the last one counts.
      case .outcome, .retention: told.insert(fact.text).inserted
      // a list erases the files that it lacks, with what was told of them.
      case .editOfFiles: told.insert("list").inserted
      default: true
      }
    }
  }

  /// Returns kinds without those whose order matters beside others of them.
  static func without(_ kinds: [OrderKind]) -> [OrderKind] {
    var kinds = kinds
    func has(_ kind: OrderKind) -> Bool { kinds.contains(kind) }
    // A complete list names each message once.
    if has(.namedAcknowledgement) || has(.copyOfServerName) || has(.clock) {
      kinds.removeAll { $0 == .wholeList || $0 == .incompleteList }
    }
    // [P-3]: these decide what is spared.
    if has(.retention) {
      if has(.clock) { kinds.removeAll { $0 == .expiry } }
      let others: [OrderKind] = [
        .deletion, .wholeList, .receiptUpTo, .receiptSequence, .receiptNames, .receiptPosition,
        .conversationList, .draft, .tag, .namedAcknowledgement, .copyOfServerName,
      ]
      kinds.removeAll { others.contains($0) }
    }
    return kinds.isEmpty ? [.copy] : kinds
  }

  /// Returns true if a line of a picture depends on the order of the facts.
  ///
  /// - Parameter isDeleted: True if the conversation was deleted.
  static func excludes(
    _ line: String, of kinds: Set<OrderKind>, after beginning: OrderBeginning, isDeleted: Bool
  ) -> Bool {
    func isOf(_ names: String...) -> Bool {
      names.contains { line.contains("\"kind\":\"\($0)\"") }
    }
    // What is told of a message that is gone waits for it, and a mark at it has any place that
    // covers the same.
    if isDeleted, isOf("waiting", "reaction", "receipt") { return true }
    // A receipt about it may still be told.
    if isDeleted, isOf("untold") { return true }
    if isDeleted, isOf("outbox"), line.contains(" receipt\",") { return true }
    // A mark at a message goes with it where the server moves it: what came below the mark before
    // was told.
    let placing: Set<OrderKind> = [
      .copy, .history, .copyOfServerName, .acknowledgement, .namedAcknowledgement, .wholeList,
      .incompleteList,
    ]
    if kinds.contains(.receiptUpTo), !kinds.isDisjoint(with: placing) {
      if isOf("untold"), line.contains("\"message\":") { return true }
      if isOf("outbox"), line.contains(" receipt\",") { return true }
    }
    // [V-7]: a message that moves is delivered by its name or in a range.
    if isOf("untold"), line.contains("\"receipt\":\"delivered\""), line.contains("\"late\":true") {
      return true
    }
    // A message that is united with a copy may be told by its name once more.
    let hasServerNames = kinds.contains(.copyOfServerName) || kinds.contains(.namedAcknowledgement)
    if hasServerNames, isOf("untold") { return true }
    // A time is heard only where some message is to expire by then. What is erased stays away, with
    // what is told of it later.
    return kinds.contains(.clock) && isOf("deleted", "receipt", "waiting", "reaction")
  }

  /// Returns a line without the fields that depend on the order of the facts.
  static func withoutExcluded(_ line: String, after beginning: OrderBeginning) -> String {
    var line = line
    if beginning.merges { line.replace(",\"arrival\":\"history\"", with: "") }
    // [U-5]: below the mark made here nothing has to say that a message was read; of one that was,
    // it matters no more that it came there later.
    if beginning.hasMark, line.contains("\"seen\":true") {
      line.replace(",\"seen\":true", with: "")
      line.replace(",\"late\":true", with: "")
    }
    // the mute of which the end is heard is over for good, one that comes later for as long
    // as the clock says so; a snapshot shows neither.
    if beginning.kinds.contains(.clock), line.contains("\"muted_until_ms\"") {
      line.replace("\"muted\":true,", with: "")
    }
    // A receipt that has nothing to tell for a moment, as when the local member has left, is
    // entered anew afterwards.
    if beginning.handsOutReceipt, line.contains(" receipt\",") {
      line.replace("\"state\":\"running\",", with: "")
      line.replace("\"attempts\":1,", with: "")
    }
    return line
  }
}
