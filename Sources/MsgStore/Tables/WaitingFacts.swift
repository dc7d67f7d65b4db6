/// The waiting facts of a message that is not here yet, except for facts that have cells of their
/// own.
///
/// See docs/message-format.md, F-7.
package struct WaitingFacts: Equatable, StoredRecord {
  package static let table = Table(Schema.facts, "waiting facts")
  package internal(set) var ordinal: UInt64 = 0
  package var status: MessageStatus = .pending
  package var time: Int64?
  package var sequence: Int64?
  package var traits = MessageTraits()

  package init() {}

  @inline(never)
  init(ordinal: UInt64) { self.ordinal = ordinal }

  package mutating func visit(_ fields: inout (some FieldVisitor & ~Copyable)) {
    fields.tag(1)
    fields.fixed(&ordinal, "ordinal in the index")
    fields.code(&status, "status, merged as [G-8] says; 0 where none is known")
    fields.flags(.byte)
    fields.optional(1, &time, or: 0) { $0.fixed(&$1, "server time") }
    fields.optional(2, &sequence, or: 0) { $0.fixed(&$1, "sequence") }
    if fields.has(4, !traits.isEmpty) {
      fields.bytes(&traits, .rest, in: 0 ... .max, "traits ([X-1])")
    }
  }
}
