/// The times at which a member received and read exactly one message: a fact of kind 4.
///
/// See docs/message-format.md, V-4.
package struct ExactReceipt: Equatable, Sendable, StoredRecord {
  package static let table = Table(Schema.facts, "receipt")
  package private(set) var isDelivered = false
  package private(set) var isRead = false
  package private(set) var deliveredAt: Int64?
  package private(set) var readAt: Int64?

  package init() {}

  package mutating func join(_ kind: ReceiptKind, _ time: Int64?) {
    switch kind {
    case .delivered:
      isDelivered = true
      deliveredAt = earliest(deliveredAt, time)
    case .read:
      isRead = true
      readAt = earliest(readAt, time)
    }
  }

  package mutating func join(_ other: ExactReceipt) {
    if other.isDelivered { join(.delivered, other.deliveredAt) }
    if other.isRead { join(.read, other.readAt) }
  }

  package mutating func visit(_ fields: inout (some FieldVisitor & ~Copyable)) {
    fields.flags(.byte)
    fields.mark(1, &isDelivered)
    fields.mark(2, &isRead)
    fields.optional(4, &deliveredAt, or: 0) { $0.fixed(&$1, "earliest known time of delivery") }
    fields.optional(8, &readAt, or: 0) { $0.fixed(&$1, "earliest known time of reading") }
    fields.require(
      (isDelivered || isRead) && (isDelivered || deliveredAt == nil) && (isRead || readAt == nil))
  }
}
