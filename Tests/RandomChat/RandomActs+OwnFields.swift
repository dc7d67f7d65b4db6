import MsgStore
import Simulation

/// The client's own fields: told by the server, or set here.
extension RandomActs {
  mutating func ownField() -> OwnField {
    let value = random.chance(80) ? random.bytes(random.chance(70) ? below(20) : 400) : nil
    return OwnField(
      "f\(below(20))", value, at: random.chance(70) ? time() : nil, isLocal: random.chance(20))
  }

  mutating func ownFields(of owner: FieldOwner, _ time: Timestamp) -> RandomAct {
    let kind = random.chance(50) ? "k" : nil
    let (field, isKind) = (ownField(), random.chance(30))
    if random.chance(50) {
      let fields = isKind ? [.kind(kind, at: time)] : [field]
      return RandomAct("receive own field \(field.name) of \(owner)") { w throws(StoreError) in
        try w.receive(fields, of: owner)
      }
    }
    return RandomAct("set own field \(field.name) of \(owner)") { w throws(StoreError) in
      if isKind {
        try w.setOwnKind(kind, of: owner)
      } else {
        try w.setOwnField(field.name, field.value, of: owner, isLocal: field.isLocal)
      }
    }
  }
}
