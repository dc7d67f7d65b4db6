import Simulation

/// Who goes on where several could, decided by a seed or by a list.
///
/// Most mistakes need few changes of turns at the right places, so most seeds make few:
///
///  - *priorities*: whoever has the highest goes on, and at a few random steps that one becomes the
///    lowest (Burckhardt, Kothari, Musuvathi, Nagarakatte, "A randomized scheduler with probabilistic
///    guarantees of finding bugs", 2010);
///  - *preemptions*: whoever runs goes on until it has to wait, but for a few random steps;
///  - *places*: the same, but for some of the steps at places of one kind, as a certain lock;
///  - *anybody*: somebody else at every few steps;
///  - *handed on*: as preemptions, but who has waited for a lock goes on as soon as it is let go of, every
///    second time.
package final class Choice {
  private enum Kind {
    case listed
    case priorities
    case preemptions
    case places(Int, oneIn: Int)
    case anybody(oneIn: Int)
    case handedOn
  }

  /// How many kinds of places are told apart.
  private static let placeCount = 24
  private let kind: Kind
  private var random: SeededRandom
  private var listed: [Int: Int] = [:]
  /// The steps at which something changes, the next one last.
  private var changes: [Int] = []
  private var priorities: [Int] = []
  private var lowest = 0

  init(listed: [Int: Int]) {
    kind = .listed
    random = SeededRandom(seed: 0)
    self.listed = listed
  }

  /// The place that is any lock of the file which a plot favours.
  static let favoured = -1

  /// - Parameter favours: Whether the plot has places of its own at which turns should change.
  package init(seed: UInt64, favours: Bool = false) {
    var random = SeededRandom(seed: seed ^ 0x5C4E_D01E)
    switch favours && !random.once(in: 4) ? -1 : random.below(12) {
    case -1: kind = .places(Self.favoured, oneIn: 2 << random.below(3))
    case 0..<4: kind = .priorities
    case 4..<6: kind = .preemptions
    case 6..<8: kind = .handedOn
    case 8..<11: kind = .places(random.below(Self.placeCount), oneIn: 2 << random.below(5))
    default: kind = .anybody(oneIn: [2, 4, 16, 64][random.below(4)])
    }
    // How long a run is is not known before; so the range is drawn, too.
    let range = 64 << random.below(7)
    for _ in 0...random.below(4) { changes.append(random.below(range)) }
    changes.sort(by: >)
    self.random = random
  }

  /// - Parameters:
  ///   - ready: Who could go on, a bit for each.
  ///   - timed: Who would go on if time passed.
  ///   - relieved: Those of the ready ones who have waited for a lock that is free now.
  ///   - place: A number for where the current one is.
  ///   - fallback: Who goes on if nothing else is said.
  func next(
    step: Int, current: Int, ready: UInt64, timed: UInt64, relieved: UInt64, place: Int,
    fallback: Int
  ) -> Int {
    if case .listed = kind {
      guard let id = listed[step], (ready | timed) >> UInt64(id) & 1 == 1 else { return fallback }
      return id
    }
    if timed != 0 && random.below(100) == 0 { return pick(timed) }
    if ready == 0 { return pick(timed) }
    let isReady = ready >> UInt64(current) & 1 == 1
    switch kind {
    case .listed: return fallback
    case .priorities:
      while priorities.count < 64 { priorities.append(random.below(1 << 20)) }
      if hasChange(step) {
        lowest -= 1
        priorities[current] = lowest
      }
      return highest(ready)
    case .preemptions:
      if hasChange(step) || !isReady { return pick(ready) }
      return current
    case .places(let wanted, let oneIn):
      let isHere = place % Self.placeCount == wanted && random.below(oneIn) == 0
      return isReady && !isHere ? current : pick(ready)
    case .anybody(let oneIn):
      return isReady && random.below(oneIn) != 0 ? current : pick(ready)
    case .handedOn:
      if relieved != 0 && random.once(in: 2) { return pick(relieved) }
      return hasChange(step) || !isReady ? pick(ready) : current
    }
  }

  private func hasChange(_ step: Int) -> Bool {
    guard let change = changes.last, change <= step else { return false }
    changes.removeLast()
    return true
  }

  private func pick(_ candidates: UInt64) -> Int {
    var rest = candidates
    for _ in 0..<random.below(candidates.nonzeroBitCount) { rest &= rest - 1 }
    return rest.trailingZeroBitCount
  }

  private func highest(_ candidates: UInt64) -> Int {
    var best = candidates.trailingZeroBitCount
    var rest = candidates & (candidates - 1)
    while rest != 0 {
      let id = rest.trailingZeroBitCount
      if priorities[id] > priorities[best] { best = id }
      rest &= rest - 1
    }
    return best
  }
}
