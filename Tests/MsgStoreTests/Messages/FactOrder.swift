import MsgStore
import Testing

/// Something that the server tells, or that is done.
typealias ToldFact = @Sendable (borrowing StoreWriter) throws -> Void

/// What can be seen of stores that were told the same facts, one store for each order.
///
/// Each fact is a commit of its own, and each store is sound. One outcome only means that the order
/// makes no difference.
func outcomes<Seen: Hashable>(
  after acts: [ToldFact] = [], of facts: [ToldFact], see: (borrowing StoreSnapshot) throws -> Seen
) throws -> Set<Seen> {
  var seen: Set<Seen> = []
  for order in orders(of: facts.count) {
    let store = try TestClock().store { $0.worksInBackground = false }
    for act in acts { try store.write { try act($0) } }
    for index in order { try store.write { try facts[index]($0) } }
    while try store.read({ try $0.hasWork }) { try store.write { try $0.doWork() } }
    try store.expectSound()
    seen.insert(try store.read { try see($0) })
  }
  return seen
}

/// All orders of the numbers below a count.
private func orders(of count: Int) -> [[Int]] {
  if count == 0 { return [[]] }
  return orders(of: count - 1).flatMap { order in
    (0..<count).map { place in
      var order = order
      order.insert(count - 1, at: place)
      return order
    }
  }
}
