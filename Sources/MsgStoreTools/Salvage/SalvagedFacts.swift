import MsgStore
import PageFile
import PageFileSalvage

/// The remains of the facts tree, read message by message.
final class SalvagedFacts {
  private let source: PageSalvage
  private let cursor: SalvageCursor
  private let names: SalvagedNames
  /// Records that could not be read.
  private(set) var lost = LostRecords()

  init(_ source: PageSalvage, _ names: SalvagedNames) {
    self.source = source
    self.names = names
    cursor = source.cursor(Schema.facts)
  }

  /// The remaining facts of one message.
  struct Found {
    var facts = ExportedFacts()
    /// Facts that only a waiting message has.
    var waiting: WaitingFacts?
    var kinds: Set<FactKind> = []
    var byteCount = 0
  }

  /// Returns the remaining facts of a message.
  ///
  /// - Parameters:
  ///   - kinds: The kinds that the message announces. A fact of another kind is left over from
  ///     before its removal.
  ///   - certainKinds: The kinds that a lost newer record of the message may announce. Facts of
  ///     these are taken from pages that are certainly the newest.
  func facts(
    of id: MessageID, in conversation: UInt32, _ kinds: Set<FactKind> = Set(FactKind.allCases),
    certainKinds: Set<FactKind> = []
  ) -> Found {
    var found = Found()
    let prefix = FactKey.prefix(conversation, id)
    cursor.seek(prefix.bytes)
    while cursor.next(), cursor.key.hasPrefix(prefix.bytes) {
      guard var kind = FactKey.parts(cursor.key)?.kind else {
        lost.add(cursor, Schema.facts, "malformed key")
        continue
      }
      // Numbers of reactions follow from the reactions.
      if kind.isDerived { continue }
      // A record announces both kinds of reactions by one mark.
      if kind == .removedReaction { kind = .reaction }
      guard kinds.contains(kind) || certainKinds.contains(kind) && cursor.isCertain else {
        continue
      }
      if let reason = cursor.lostReason {
        lost.add(cursor, Schema.facts, reason)
      } else if take(kind, behind: prefix.count, &found) {
        found.kinds.insert(kind)
        found.byteCount += cursor.value.count
      } else {
        lost.add(cursor, Schema.facts, "malformed fact")
      }
    }
    found.facts.sort()
    return found
  }

  private func take(_ kind: FactKind, behind prefix: Int, _ found: inout Found) -> Bool {
    if kind == .waiting {
      found.waiting = WaitingFacts(cursor.value)
      return found.waiting != nil
    }
    var fact = ExportedFacts()
    guard
      fact.take(
        cursor.key.dropFirst(prefix), cursor.value, member: names.member, tag: names.tag),
      (try? Restoring.validateFacts(fact)) != nil
    else { return false }
    found.facts += fact
    return true
  }
}

extension ExportedFacts {
  fileprivate static func += (a: inout ExportedFacts, b: ExportedFacts) {
    a.history += b.history
    a.attachments += b.attachments
    a.reactions += b.reactions
    a.receipts += b.receipts
    a.waitingMarks += b.waitingMarks
    a.ownFields += b.ownFields
    a.tags += b.tags
  }
}

extension MessageTraits.Bits {
  /// The kinds of facts that a message with these bits has.
  var factKinds: Set<FactKind> {
    var kinds: Set<FactKind> = []
    if contains(.versions) { kinds.insert(.version) }
    if contains(.reactions) { kinds.insert(.reaction) }
    if contains(.attachments) { kinds.insert(.attachment) }
    if contains(.receipts) { kinds.insert(.receipt) }
    if contains(.tagged) { kinds.insert(.tag) }
    return kinds
  }
}
