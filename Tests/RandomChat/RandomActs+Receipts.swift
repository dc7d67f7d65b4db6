import MsgStore
import Simulation

/// Reading and delivering, here and elsewhere.
extension RandomActs {
  /// Marks of the local member, receipts of others, and the server's word that it has some.
  mutating func receipts(_ c: ConversationID) -> RandomAct {
    let (kind, id, other) = (below(7), id(), id())
    switch kind {
    case 0:
      return RandomAct("markRead \(c) upTo \(id)") { w throws(StoreError) in
        try w.markRead(c, upTo: id)
      }
    case 1:
      return RandomAct("markRead [\(id), \(other)] in \(c)") { w throws(StoreError) in
        try w.markRead([id, other], in: c)
      }
    case 2:
      return RandomAct("markDelivered \(c) upTo \(id)") { w throws(StoreError) in
        try w.markDelivered(c, upTo: id)
      }
    case 3:
      return RandomAct("markDelivered [\(id)] in \(c)") { w throws(StoreError) in
        try w.markDelivered([id], in: c)
      }
    case 4...5:
      let receipt = ReceivedReceipt(
        in: c, of: member(), random.chance(50) ? .read : .delivered,
        random.chance(20)
          ? .upToSequence(Int64(below(60)))
          : random.chance(50) ? .upTo(id) : .messages([id, other]),
        time: random.chance(70) ? time() : nil)
      let extent = "\(receipt.kind) \(receipt.extent)"
      return RandomAct("receive receipt of \(receipt.member) in \(c) \(extent)") {
        w throws(StoreError) in try w.receive(receipt)
      }
    default:
      return RandomAct(confirming: random.next(), steps)
    }
  }
}
