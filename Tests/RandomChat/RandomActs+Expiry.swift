import MsgStore
import Simulation

extension RandomActs {
  /// The time at which a message expires, or what follows from the times that have passed.
  mutating func expiring(_ id: MessageID, in c: ConversationID) -> RandomAct {
    if random.chance(50) {
      return RandomAct("finish letting go") { w throws(StoreError) in
        for _ in 0..<50 { try w.doWork() }
      }
    }
    let time = expiry()
    return RandomAct("receiveExpiry of \(id) in \(c) at \(time)") { w throws(StoreError) in
      try w.receiveExpiry(of: id, in: c, at: time)
    }
  }
}
