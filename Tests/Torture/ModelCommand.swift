import ProtocolModel
import Subcommands

extension Subcommand {
  /// Tries everything that a model of the protocol can do, and whether it notices mistakes in it.
  ///
  /// Nothing of it is random, so more time than it needs finds no more.
  static let model = Subcommand(
    name: "model", summary: "every state of a model of the protocol, within a bound",
    run: { arguments in
      let start = Stopwatch.seconds()
      let reports = ProtocolDefect.harmful.map { runModel(bound: $0.bound, defect: $0) }
      let missed = reports.filter { $0.violation == nil }
      for report in missed { print("model: missed by \(report)") }
      print("model: \(reports.count - missed.count) of \(reports.count) planted defects caught")
      var failureCount = missed.count
      for bound in Bound.full {
        let secondsLeft = arguments.seconds - Int(Stopwatch.seconds() - start)
        let report = runModel(bound: bound, seconds: max(1, secondsLeft))
        print("model: \(report)")
        if report.violation != nil { failureCount += 1 }
      }
      return failureCount
    })
}
