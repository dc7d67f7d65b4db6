import MsgStore
import PageFile

/// A fact about a store: something that a server says, or the outcome of work that was handed out.
struct OrderFact {
  let kind: OrderKind
  let text: String
  private let tell: (borrowing StoreWriter, OrderHand) throws -> Void

  init(
    _ kind: OrderKind, _ text: String,
    _ tell: @escaping (borrowing StoreWriter, OrderHand) throws -> Void
  ) {
    self.kind = kind
    self.text = text
    self.tell = tell
  }

  /// Tells a store the fact.
  func tell(_ writer: borrowing StoreWriter, _ hand: OrderHand) throws { try tell(writer, hand) }
}

/// The kinds of facts.
///
/// Those of `anywhere` may come in any order among each other; the others belong to a beginning.
enum OrderKind: String, CaseIterable {
  case copy, history, copyOfServerName, reply, acknowledgement, namedAcknowledgement, status
  case edit, editOfFiles, retraction, reaction, file, tag, expiry
  case messageField, conversationField, memberField, profile
  case receiptUpTo, receiptSequence, receiptNames, receiptPosition
  case conversation, members, draft, deletion, absent, wholeList, retention, conversationList

  // Those of some beginnings.
  case outcome, echo, rename, clock

  // Between other facts, as they depend on what is there.
  case incompleteList, completeConversationList

  static let anywhere = allCases.filter {
    ![.outcome, .echo, .rename, .clock, .incompleteList, .completeConversationList].contains($0)
  }

}

/// The work that was handed out before the facts came, and the clock that a fact may set.
final class OrderHand {
  let clock = TestClock(orderTime(1000).microseconds)
  var items: [OutboxItem] = []
}

/// A time of the facts, in milliseconds after a moment that no real clock has.
func orderTime(_ milliseconds: Int) -> Timestamp {
  Timestamp(milliseconds: 4_102_444_800_000 + Int64(milliseconds))
}

/// The conversation of most facts, and the one that becomes it.
let orderRoom: ConversationID = "c1"
let orderLocalRoom: ConversationID = "l1"
