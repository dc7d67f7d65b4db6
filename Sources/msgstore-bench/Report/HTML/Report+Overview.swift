/// The page's first sentences: what the figures say as a whole, and whether to trust them.
extension Report {
  var overview: String {
    let ours = figures.filter { $0.engine == .msgstore && ScaledWorkload($0.workload) == nil }
    let sentences = measured.filter { $0 != .msgstore && $0 != .limit }.compactMap { engine in
      let ratios = ours.compactMap { figure in
        figure.versus.first { $0.engine == engine }?.ratio
      }
      guard !ratios.isEmpty else { return nil as String? }
      let wins = ratios.count { $0 > 1 }
      return
        "Needs less than \(engine.rawValue) in \(wins) of \(ratios.count) workloads; the middle "
        + "ratio is \(ratios.median.ratioText), the worst \((ratios.min() ?? 0).ratioText)."
    }
    let limit =
      measured.contains(.limit)
      ? ["limit is the machine's own cost of the same bytes: a plain write and sync, or a copy."]
      : []
    return (sentences + limit).map { "<p>\(HTML.escaped($0))</p>" }.joined(separator: "\n")
  }

  /// Warnings about a run that proves little.
  var doubts: String {
    var doubts: [String] = []
    func setting(_ name: String) -> Double? {
      guard case .number(let number)? = settings.first(where: { $0.name == name })?.value else {
        return nil
      }
      return number
    }
    if let rounds = setting("rounds"), rounds < 3 {
      doubts.append("\(Int(rounds)) of the usual 5 rounds: one disturbance shows in every figure")
    }
    if let count = setting("messages"), count < 50_000 {
      doubts.append("\(Int(count)) messages: all of it fits into every cache")
    }
    if machine.load > Double(machine.coreCount) / 2 {
      doubts.append(
        "load \(Number.text(machine.load, digits: 1)) at the beginning: other programs were running"
      )
    }
    guard !doubts.isEmpty else { return "" }
    let items = doubts.map { "<li>\(HTML.escaped($0))</li>" }.joined()
    return "\n<div class=\"doubts\"><p>This run proves little:</p><ul>\(items)</ul></div>"
  }
}
