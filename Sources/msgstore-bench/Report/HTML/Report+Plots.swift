/// The time of operations, and bytes on disk, written, and in memory: bars from zero.
extension Report {
  var latencySection: String {
    section(
      "Time",
      "Median time of one operation, from zero to the longest of each plot. Less is better. The "
        + "last column has how many times as long as msgstore an engine takes.",
      cards { $0.unit == Figure.perOperation && ScaledWorkload($0.workload) == nil })
  }

  var bytesSection: String {
    let units = [Figure.perMessage, Figure.perCommit, Figure.byte]
    return section(
      "Bytes", "From zero to the largest of each plot. Less is better.",
      cards { units.contains($0.unit) })
  }

  private func cards(_ isIncluded: (Figure) -> Bool) -> String {
    let cards = workloads.map { workload in
      let bars = bars(figures.filter { $0.workload == workload && isIncluded($0) })
      return bars.isEmpty ? "" : card(workload, bars)
    }.joined()
    return cards.isEmpty ? "" : "<div class=\"cards\">\n\(cards)</div>\n"
  }
}

/// The growth of times with the size of the store: a line for each engine.
extension Report {
  var growthSection: String {
    let scaled = figures.compactMap { figure in
      ScaledWorkload(figure.workload).map { (workload: $0, figure: figure) }
    }
    var names: [String] = []
    for (workload, _) in scaled where !names.contains(workload.name) { names.append(workload.name) }
    let cards = names.map { name in
      let points = scaled.filter { $0.workload.name == name }
        .map { (size: Double($0.workload.size), figure: $0.figure) }
      let ratios = measured.compactMap { engine in
        figure(of: "\(ScaledWorkload.prefix)\(name)", by: engine).map { figure in
          "<li class=\"\(Self.colour(of: engine))\"><i></i>\(HTML.escaped(engine.rawValue)) "
            + "<b>\(figure.median.ratioText)</b></li>"
        }
      }
      return card(
        "\(ScaledWorkload.prefix)\(name)",
        Self.lines(points) + "<ul class=\"legend\">\(ratios.joined())</ul>\n")
    }.joined()
    return section(
      "Growth",
      "Median time by the number of messages in the store, both by powers of ten; below, the "
        + "largest store's time divided by the smallest's.",
      cards.isEmpty ? "" : "<div class=\"cards\">\n\(cards)</div>\n")
  }

  private static func lines(_ points: [(size: Double, figure: Figure)]) -> String {
    let sizes = PlotScale(powersOfTenAround: points.map(\.size))
    let times = PlotScale(powersOfTenAround: points.map(\.figure.median))
    var drawing = ""
    for tick in times.ticks {
      let y = flipped(times.share(tick))
      drawing += "<line class=\"grid\" x1=\"0\" x2=\"100%\" y1=\"\(y)\" y2=\"\(y)\"/>"
      drawing += "<text class=\"above\" x=\"0\" y=\"\(y)\">\(Number.roundDuration(tick))</text>"
    }
    for engine in EngineName.allCases {
      let own = points.filter { $0.figure.engine == engine }.sorted { $0.size < $1.size }
      guard !own.isEmpty else { continue }
      let places = own.map { point in
        (x: inset(sizes.share(point.size)), y: flipped(times.share(point.figure.median)))
      }
      drawing += "<g class=\"\(colour(of: engine))\">"
      for (a, b) in zip(places, places.dropFirst()) {
        drawing += "<line class=\"path\" x1=\"\(a.x)\" y1=\"\(a.y)\" x2=\"\(b.x)\" y2=\"\(b.y)\"/>"
      }
      for place in places { drawing += "<circle cx=\"\(place.x)\" cy=\"\(place.y)\" r=\"4\"/>" }
      drawing += "</g>"
    }
    let names = sizes.ticks.map { tick in
      "<text x=\"\(inset(sizes.share(tick)))\" y=\"14\">\(Number.grouped(Int(tick)))</text>"
    }.joined()
    return """
      <svg class="lines" aria-hidden="true">\(drawing)</svg>
      <svg class="sizes" aria-hidden="true">\(names)</svg>

      """
  }

  /// Leaves room for axis labels on the left, and for size labels on both sides.
  private static func inset(_ share: Double) -> String { PlotScale.percent(0.16 + 0.74 * share) }
  private static func flipped(_ share: Double) -> String { PlotScale.percent(0.96 - 0.86 * share) }
}

/// A workload measured at some size: `scale/tail50-huge/10000`.
package struct ScaledWorkload {
  static let prefix = "scale/"

  package var name: String
  package var size: Int

  package init?(_ workload: String) {
    let parts = workload.split(separator: "/")
    guard parts.count == 3, "\(parts[0])/" == Self.prefix, let size = Int(parts[2]) else {
      return nil
    }
    name = String(parts[1])
    self.size = size
  }
}
