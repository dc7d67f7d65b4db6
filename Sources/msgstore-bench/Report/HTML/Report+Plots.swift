/// The latency of operations: a dot for each engine, on one scale for all workloads, so that
/// positions are comparable.
extension Report {
  private var latencies: [Figure] {
    figures.filter { $0.unit == Figure.perOperation && ScaledWorkload($0.workload) == nil }
  }

  var latencySection: String {
    let figures = latencies
    let scale = PlotScale(powersOfTenAround: figures.flatMap { [$0.median, $0.p99] })
    let cards = workloads.map { workload in
      let figures = figures.filter { $0.workload == workload }
      guard !figures.isEmpty else { return "" }
      let rows = figures.map { figure in
        row(figure.engine, Self.dot(figure, scale), Number.duration(figure.median))
      }
      return card(workload, rows.joined() + Self.durationAxis(scale))
    }.joined()
    return section(
      "Latency",
      "Time of one operation, by powers of ten. The dot is the median, the line reaches to the "
        + "99th percentile.",
      cards.isEmpty ? "" : "<div class=\"cards\">\n\(cards)</div>\n")
  }

  private static func dot(_ figure: Figure, _ scale: PlotScale) -> String {
    let median = scale.percent(figure.median)
    let p99 = scale.percent(figure.p99)
    let grid = scale.ticks.map { tick in
      let x = scale.percent(tick)
      return "<line class=\"grid\" x1=\"\(x)\" x2=\"\(x)\" y1=\"0\" y2=\"100%\"/>"
    }.joined()
    return grid
      + "<line class=\"tail\" x1=\"\(median)\" x2=\"\(p99)\" y1=\"50%\" y2=\"50%\"/>"
      + "<circle cx=\"\(median)\" cy=\"50%\" r=\"5\"/>"
  }

  private static func durationAxis(_ scale: PlotScale) -> String {
    let names = scale.namedTicks.map { tick in
      "<text x=\"\(scale.percent(tick))\" y=\"12\">\(Number.roundDuration(tick))</text>"
    }.joined()
    return
      "<div class=\"row axis\"><span></span><svg aria-hidden=\"true\">\(names)</svg><b></b></div>\n"
  }
}

/// Bytes on disk, bytes written and bytes in memory: bars from zero.
extension Report {
  var bytesSection: String {
    let units = [Figure.perMessage, Figure.perCommit, Figure.byte]
    let cards = workloads.map { workload in
      let figures = figures.filter { $0.workload == workload && units.contains($0.unit) }
      guard let largest = figures.map(\.median).max(), largest > 0 else { return "" }
      let rows = figures.map { figure in
        let width = PlotScale.percent(figure.median / largest)
        return row(
          figure.engine, "<rect width=\"\(width)\" y=\"4\" height=\"12\" rx=\"2\"/>",
          figure.medianText)
      }
      return card(workload, rows.joined())
    }.joined()
    return section(
      "Bytes", "Each from zero to its own largest.",
      cards.isEmpty ? "" : "<div class=\"cards bars\">\n\(cards)</div>\n")
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
