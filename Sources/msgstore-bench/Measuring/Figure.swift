/// The result of one engine in one round of a workload.
struct Round {
  /// The round's figure: the median of its samples, unless the workload defines it otherwise.
  var value: Double
  var samples: [Double]
  var operationCount: Int

  /// Creates a round of timed operations, in nanoseconds each.
  init(samples: [Double], operationsPerSample: Int = 1) {
    self.samples = samples
    value = samples.median
    operationCount = samples.count * operationsPerSample
  }

  /// Creates a round whose figure is a total divided by the number of operations.
  ///
  /// Rare events, such as a checkpoint, then have their share in it.
  init(mean value: Double, samples: [Double] = [], operationCount: Int) {
    self.value = value
    self.samples = samples.isEmpty ? [value] : samples
    self.operationCount = operationCount
  }
}

extension [Double] {
  /// The middle value, or the mean of the two in the middle.
  var median: Double {
    guard !isEmpty else { return 0 }
    let sorted = sorted()
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2
  }

  /// Returns the smallest value that is not exceeded by at least this share of the values.
  func quantile(_ share: Double) -> Double {
    guard !isEmpty else { return 0 }
    let rank = Int((Double(count) * share).rounded(.up))
    return sorted()[Swift.max(rank, 1) - 1]
  }
}

/// One line of the report.
package struct Figure {
  package static let perOperation = "ns/op"
  package static let byte = "bytes"
  package static let perMessage = "bytes/message"
  package static let perCommit = "bytes/commit"
  /// Bytes fetched from storage for one read.
  package static let perRead = "bytes/read"
  package static let pages = "pages/read"
  package static let calls = "calls/message"
  package static let count = "count"
  /// A part of a whole, 0 to 1.
  package static let share = "share"
  /// CPU time of a user's day.
  package static let perDay = "ns/day"
  package static let growth = "largest/smallest"
  /// A size divided by another one.
  package static let ratio = "ratio"

  package var engine: EngineName
  package var workload: String
  package var unit: String
  package var median: Double
  package var p99: Double
  package var operationCount: Int
  /// The medians of other engines divided by this one's; only our own figures have them.
  package var versus: [(engine: EngineName, ratio: Double)] = []

  package init(
    engine: EngineName, workload: String, unit: String, median: Double, p99: Double,
    operationCount: Int, versus: [(engine: EngineName, ratio: Double)] = []
  ) {
    self.engine = engine
    self.workload = workload
    self.unit = unit
    self.median = median
    self.p99 = p99
    self.operationCount = operationCount
    self.versus = versus
  }

  /// Turns the rounds of all engines into figures, with ratios taken round by round.
  static func all(
    of workload: String, unit: String = perOperation, rounds: [EngineName: [Round]]
  ) -> [Figure] {
    EngineName.allCases.compactMap { engine in
      guard let own = rounds[engine], !own.isEmpty else { return nil }
      var figure = Figure(
        engine: engine, workload: workload, unit: unit,
        median: own.map(\.value).median, p99: own.flatMap(\.samples).quantile(0.99),
        operationCount: own.reduce(0) { $0 + $1.operationCount })
      guard engine == .msgstore else { return figure }
      for other in EngineName.allCases where other != engine {
        guard let theirs = rounds[other] else { continue }
        // A figure of zero has no ratio.
        let ratios = zip(theirs, own).filter { $1.value > 0 }.map { $0.value / $1.value }
        if !ratios.isEmpty { figure.versus.append((other, ratios.median)) }
      }
      return figure
    }
  }
}
