import MsgStore
import Simulation

/// What waits to go out: handed out, told of, and decided about.
extension RandomActs {
  mutating func outbox(_ c: ConversationID) -> RandomAct {
    let owner = "worker \(below(3))"
    switch below(10) {
    case 0...4: return handing(to: owner)
    case 5:
      return RandomAct("giveBackAll of \(owner)") { w throws(StoreError) in
        try w.outbox.reclaimWork(of: owner)
      }
    case 6:
      let (name, payload) = ("work \(below(3))", random.bytes(below(9)))
      let conversation = random.chance(50) ? c : nil
      return RandomAct("enter \(name) in \(conversation?.string ?? "-")") { w throws(StoreError) in
        try w.outbox.enter(name, payload: payload, in: conversation)
      }
    case 7:
      let holdsNewEntries = random.chance(30)
      return RandomAct("setHoldsNewEntries \(holdsNewEntries)") { w throws(StoreError) in
        try w.outbox.setHoldsNewEntries(holdsNewEntries)
      }
    default: return deciding()
    }
  }

  private mutating func handing(to owner: String) -> RandomAct {
    let failure = SendFailure(
      random.chance(70) ? .noConnection : .permission, code: Int64(below(600)), text: "no \"way\"")
    let (end, time) = (below(5), time())
    let ends = ["done", "done", "failed \(failure.kind)", "giveBack", "nothing"]
    return RandomAct("next for \(owner), then \(ends[end])") { w throws(StoreError) in
      guard let item = try w.outbox.next(for: owner) else { return }
      switch end {
      case 0...1:
        // Other acts would change the order of what was received at random times.
        let isField = if case .setOwnField = item.task { true } else { false }
        try w.outbox.complete(item, serverTime: isField ? time : nil)
      case 2: try w.outbox.fail(item, because: failure)
      case 3: try w.outbox.returnWork(item)
      default: break
      }
    }
  }

  /// One of the first entries, whatever it is by then.
  private mutating func deciding() -> RandomAct {
    let (place, kind, text) = (below(20), below(5), "decided \(below(50))")
    let names = ["hold", "release", "retry", "setText", "remove"]
    return RandomAct("\(names[kind]) entry at \(place)") { w throws(StoreError) in
      let entries = try w.outbox.entries(count: 20).entries
      guard !entries.isEmpty else { return }
      let id = entries[place % entries.count].id
      switch kind {
      case 0: try w.outbox.hold(id)
      case 1: try w.outbox.release(id)
      case 2: try w.outbox.retry(id)
      case 3: try w.outbox.setText(text, of: id)
      default: try w.outbox.remove(id)
      }
    }
  }
}
