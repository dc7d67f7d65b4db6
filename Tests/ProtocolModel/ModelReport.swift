/// What a run of the model has found.
package struct ModelReport: Sendable, CustomStringConvertible {
  package let bound: Bound
  package let defect: ProtocolDefect?
  package let stateCount: Int
  package let transitionCount: Int
  /// The most steps that any state is away from the first one.
  package let depth: Int
  package let seconds: Double
  /// Whether the time was over before everything was tried.
  package let isCutShort: Bool
  /// What is wrong, and a shortest way to it.
  package let violation: ProtocolViolation?
  package let trace: [String]

  package var description: String {
    let milliseconds = Int(seconds * 1000)
    var text = "\(defect?.rawValue ?? "the protocol as it is"), \(bound): \(stateCount) states, "
    text += "\(transitionCount) transitions, depth \(depth), \(milliseconds) ms: "
    guard let violation else {
      return text + (isCutShort ? "no violation, but not everything was tried" : "no violation")
    }
    text += "\(violation)"
    for (index, step) in trace.enumerated() { text += "\n  \(index + 1). \(step)" }
    return text
  }
}

/// Tries everything that the bound allows, with a defect or without, until something is wrong or the
/// time is over.
package func runModel(
  bound: Bound, defect: ProtocolDefect? = nil, seconds: Int? = nil
) -> ModelReport {
  precondition(bound.commits <= 4 && bound.readers <= 2, "a bound beyond what a state can hold")
  let clock = ContinuousClock()
  let start = clock.now
  var explorer = Explorer(Model(bound: bound, defect: defect))
  explorer.run(until: seconds.map { start + .seconds($0) })
  let elapsed = clock.now - start
  return ModelReport(
    bound: bound, defect: defect, stateCount: explorer.stateCount,
    transitionCount: explorer.transitionCount, depth: explorer.depth,
    seconds: elapsed / .seconds(1),
    isCutShort: explorer.isCutShort,
    violation: explorer.violation, trace: explorer.trace)
}
