/// Breadth-first search through all states of a model, until one is wrong or there are no more.
struct Explorer {
  let model: Model
  private var seen = FingerprintSet()
  /// For each state, in the order found: the state it came from, and which of its steps led here.
  private var origins: [(state: UInt32, step: UInt16)] = []
  private(set) var transitionCount = 0
  private(set) var depth = 0
  /// Whether the time was over before everything was tried.
  private(set) var isCutShort = false
  private(set) var violation: ProtocolViolation?
  private(set) var trace: [String] = []

  var stateCount: Int { origins.count }

  init(_ model: Model) { self.model = model }

  mutating func run(until deadline: ContinuousClock.Instant?) {
    var level = [model.initialState]
    seen.insert(level[0].fingerprint)
    origins.append((0, 0))
    var first = 0
    let steps = Steps(hasLabels: false)
    while !level.isEmpty {
      var following: [State] = []
      let nextFirst = origins.count
      for (index, state) in level.enumerated() {
        if index % 4096 == 0, let deadline, ContinuousClock.now > deadline {
          isCutShort = true
          return
        }
        steps.removeAll()
        model.collectSteps(from: state, steps)
        transitionCount += steps.states.count
        if let (violation, step) = steps.wrong {
          self.violation = violation
          trace = trace(to: UInt32(first + index), UInt16(step))
          return
        }
        for (step, next) in steps.states.enumerated() where seen.insert(next.fingerprint) {
          origins.append((UInt32(first + index), UInt16(step)))
          following.append(next)
        }
      }
      level = following
      first = nextFirst
      if !level.isEmpty { depth += 1 }
    }
  }

  /// The labels of the steps that lead to a state and from there on by one more.
  private func trace(to number: UInt32, _ last: UInt16) -> [String] {
    var path = [last]
    var number = number
    while number != 0 {
      path.append(origins[Int(number)].step)
      number = origins[Int(number)].state
    }
    var labels: [String] = []
    var state = model.initialState
    for step in path.reversed() {
      let steps = Steps(hasLabels: true)
      model.collectSteps(from: state, steps)
      labels.append(steps.labels[Int(step)])
      state = steps.states[Int(step)]
    }
    return labels
  }
}

/// A set of fingerprints, with open addressing.
struct FingerprintSet {
  private var places: [UInt64] = Array(repeating: 0, count: 1 << 12)
  private var count = 0

  /// Whether the fingerprint was new.
  @discardableResult
  mutating func insert(_ fingerprint: UInt64) -> Bool {
    if count * 2 > places.count { grow() }
    return add(fingerprint == 0 ? 1 : fingerprint)
  }

  private mutating func add(_ fingerprint: UInt64) -> Bool {
    var place = Int(truncatingIfNeeded: fingerprint) & (places.count - 1)
    while places[place] != 0 {
      if places[place] == fingerprint { return false }
      place = (place + 1) & (places.count - 1)
    }
    places[place] = fingerprint
    count += 1
    return true
  }

  private mutating func grow() {
    let old = places
    places = Array(repeating: 0, count: old.count * 2)
    count = 0
    for fingerprint in old where fingerprint != 0 { _ = add(fingerprint) }
  }
}
