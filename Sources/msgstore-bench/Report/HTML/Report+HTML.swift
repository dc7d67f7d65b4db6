/// A self-contained page: no network, no script.
extension Report {
  package var html: String {
    """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>msgstore-bench</title>
    <style>
    \(Self.style)
    </style>
    </head>
    <body>
    <header>
    <h1>msgstore beside its peers</h1>
    \(overview)\(doubts)
    <p class="note">\(HTML.escaped(settingsText))</p>
    <p class="note">\(HTML.escaped("\(machineText), \(machine.fileSystem), \(machine.date)"))</p>
    </header>
    <main>
    \(latencySection)\(growthSection)\(bytesSection)\(tableSection)\(engineSection)</main>
    </body>
    </html>

    """
  }

  /// Returns the classes that give a part of a plot the colour of an engine.
  static func colour(of engine: EngineName) -> String { "engine \(engine.rawValue)" }

  func section(_ title: String, _ note: String, _ body: String) -> String {
    guard !body.isEmpty else { return "" }
    return """
      <section id="\(HTML.escaped(title.lowercased().filter { $0 != " " }))">
      <h2>\(HTML.escaped(title))</h2>
      <p class="note">\(HTML.escaped(note))</p>
      \(body)</section>

      """
  }

  /// Returns a plot with its title: what one operation does, and the name of the workload.
  func card(_ workload: String, _ body: String) -> String {
    let name = HTML.escaped(workload)
    let title = summaries[workload].map { "\(HTML.escaped($0))<small>\(name)</small>" } ?? name
    return """
      <figure>
      <figcaption>\(title)</figcaption>
      \(body)</figure>

      """
  }

  /// Returns bars from zero to the largest of a workload's figures, the least of them marked.
  func bars(_ figures: [Figure]) -> String {
    guard let largest = figures.map(\.median).max(), largest > 0 else { return "" }
    let best = best(figures)
    let ratios = figures.first { $0.engine == .msgstore }?.versus ?? []
    return figures.map { figure in
      let width = PlotScale.percent(figure.median / largest)
      let ratio = ratios.first { $0.engine == figure.engine }?.ratio.ratioText
      let details = figure.p99Text.map { " title=\"99th percentile \($0)\"" } ?? ""
      let isBest = figure.engine == best ? " best" : ""
      return """
        <div class="row \(Self.colour(of: figure.engine))\(isBest)"\(details)>\
        <span>\(HTML.escaped(figure.engine.rawValue))</span>\
        <svg aria-hidden="true"><rect width="\(width)" y="4" height="12" rx="2"/></svg>\
        <b>\(HTML.escaped(figure.medianText))</b><small>\(ratio ?? "")</small></div>

        """
    }.joined()
  }

  /// Returns the engine with the least figure; the limit of the machine does not compete.
  func best(_ figures: [Figure]) -> EngineName? {
    figures.filter { $0.engine != .limit }.min { $0.median < $1.median }?.engine
  }
}
