package import MsgStore
import Simulation

extension RandomActs {
  package static let tags: [MessageTag] = [.pinned, .starred, .link, .own("a"), .own("b")]

  /// A tag that the local member or the server sets or removes.
  mutating func tagging(
    _ id: MessageID, in c: ConversationID, at time: Timestamp
  ) -> RandomAct {
    let (tag, isRemoved) = (Self.tags[below(Self.tags.count)], random.chance(30))
    if random.chance(60) {
      return RandomAct("receiveTag \(tag) \(!isRemoved) of \(id) in \(c) at \(time)") {
        w throws(StoreError) in
        try w.receiveTag(tag, isRemoved: isRemoved, of: id, in: c, at: time)
      }
    }
    return RandomAct("setTag \(tag) \(!isRemoved) of \(id) in \(c)") { w throws(StoreError) in
      if isRemoved { try w.removeTag(tag, of: id, in: c) } else { try w.setTag(tag, of: id, in: c) }
    }
  }
}
