import PageFile

/// The part of a conversation's history that is kept: its rule, and the end of the part that was
/// pruned.
///
/// See docs/message-format.md, P-1 … P-3. The record of number 0 has the rule of the store.
package struct RetentionRecord: StoredRecord, Equatable {
  package static let table = Table(Schema.retention, "retention", keys: KeyEncoding.numberByteCount)
  /// The number under which the rule of the store lies.
  package static let store: UInt32 = 0

  /// The rule; nil if the one of the store applies.
  package var rule: Retention?
  /// The position of the newest message that was pruned.
  package var floor: MessagePosition?

  package init() {}

  package var isEmpty: Bool { rule == nil && floor == nil }

  package mutating func visit(_ fields: inout (some FieldVisitor & ~Copyable)) {
    fields.tag(1)
    fields.flags(.byte)
    var days = rule?.days
    var count = rule?.messageCount
    let hasRule = fields.has(1, rule != nil)
    fields.optional(2, &days, or: 1) { $0.varint(&$1, maximum: Retention.maximumDays, "days") }
    fields.optional(4, &count, or: 1) {
      $0.varint(&$1, maximum: Retention.maximumMessageCount, "message count")
    }
    fields.require(hasRule || days == nil && count == nil)
    fields.require(days != 0 && count != 0)
    rule = hasRule ? Retention(days: days, messageCount: count) : nil
    fields.optional(8, &floor, or: .lowest) {
      $0.position(&$1, "position of the newest message that was pruned")
    }
  }

  /// Takes the later end of the pruned part, and another rule if this has none.
  package mutating func merge(_ other: RetentionRecord) {
    floor = latest(floor, other.floor)
    rule = rule ?? other.rule
  }
}

/// A reader of the rules and of the ends of pruned parts.
package struct RetentionReader {
  let view: StoreView

  /// True if there is no rule, and nothing was ever pruned.
  var isUnused: Bool { view.source.root(of: Schema.retention) == .none }

  /// Returns the record of a conversation, or of the store under number 0.
  package func record(_ number: UInt32) throws(StoreError) -> RetentionRecord {
    if isUnused { return RetentionRecord() }
    return try view.record(KeyEncoding.key(number)) ?? RetentionRecord()
  }

  /// Returns the position of the newest message of a conversation that was pruned.
  func floor(of number: UInt32) throws(StoreError) -> MessagePosition? {
    if isUnused { return nil }
    return try record(number).floor
  }

  /// Returns the rule that applies to a conversation.
  func rule(of number: UInt32) throws(StoreError) -> Retention {
    if let own = try record(number).rule { return own }
    return try record(RetentionRecord.store).rule ?? .everything
  }
}

extension StoreView {
  package var retention: RetentionReader { RetentionReader(view: self) }
}
