package import PageFile

/// A piece of work that is too large for one commit, as the work tree stores it.
///
/// See docs/message-format.md, Y-1 … Y-3.
///
///  1. A number that is swept or merged belongs to no conversation any more. It has messages and
///     facts about them, but no summary and no name.
///  2. A step removes its work from the place where the next step looks, so no position needs to be
///     kept. Only pruning passes over some of it: its record says how far it has come.
package struct WorkRecord: Equatable, StoredRecord {
  package static let table = Table(Schema.work, "work", keys: 8, mark: 0)
  /// The kinds of work.
  package enum Kind: Equatable {
    /// Removes everything that a deleted conversation has left.
    case sweep
    /// Removes the messages up to a time from a conversation that stays.
    case trim(upTo: Int64)
    /// Moves everything to another conversation.
    indirect case merge(into: UInt32, ConversationSummary)
    /// Removes the history that no rule keeps; the number is that of the conversation in hand, or 0
    /// before the first of all.
    case prune(PruneProgress)

    package static let cases: [Kind] = [
      .sweep, .trim(upTo: 0), .merge(into: 0, ConversationSummary(created: 0)),
      .prune(PruneProgress(reached: .lowest)),
    ]

    fileprivate var code: UInt8 {
      switch self {
      case .sweep: 1
      case .trim: 2
      case .merge: 3
      case .prune: 4
      }
    }
  }

  package private(set) var conversation: UInt32 = 0
  package private(set) var kind = Kind.sweep

  package init() {}

  package init(_ kind: Kind, of conversation: UInt32) {
    self.kind = kind
    self.conversation = conversation
  }

  /// The number of the conversation that a merge moves the messages to; nil for other work.
  var target: UInt32? {
    if case .merge(let target, _) = kind { target } else { nil }
  }

  package mutating func visit(_ fields: inout (some FieldVisitor & ~Copyable)) {
    fields.tag(1)
    fields.choice(
      &kind, code: kind.code, from: 1, of: Kind.cases,
      "kind: 1 sweep, 2 trim, 3 merge, 4 prune")
    fields.fixed(&conversation, "number of the conversation")
    switch kind {
    case .sweep: break
    case .trim(var time):
      fields.fixed(&time, "trim: up to this server time")
      kind = .trim(upTo: time)
    case .merge(var target, var summary):
      fields.fixed(&target, "merge: number of the conversation that takes the messages")
      fields.bytes(
        &summary, .rest, in: 0 ... .max, "merge: the former summary of this number ([C-1])")
      kind = .merge(into: target, summary)
    case .prune(var progress):
      progress.visit(&fields)
      kind = .prune(progress)
    }
  }

  /// The limit of ordinals.
  ///
  /// Their first byte is 0, so that the outbox can lie behind them.
  static let maximumOrdinal: UInt64 = 1 << 56
  package static var keyStart: ByteBuffer { KeyEncoding.prefix(0) }

  package static func key(_ ordinal: UInt64) -> ByteBuffer { ByteBuffer().appending(ordinal) }
}

/// The point that the pruning of a conversation has reached.
package struct PruneProgress: Equatable {
  /// True if the conversations with greater numbers follow.
  var goesOn = false
  /// The position up to which messages were pruned or spared; nil before the first.
  var reached: MessagePosition?

  fileprivate mutating func visit(_ fields: inout (some FieldVisitor & ~Copyable)) {
    var state: UInt8 = (goesOn ? 1 : 0) + (reached == nil ? 0 : 2)
    fields.fixed(&state, "prune: 1 if all conversations with greater numbers follow, plus 2")
    fields.require(state <= 3)
    goesOn = state & 1 != 0
    guard state & 2 != 0 else { return reached = nil }
    var position = reached ?? .lowest
    fields.position(&position, "prune, with 2: position up to which this one is done")
    reached = position
  }
}
