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

  /// Returns a plot with its title and summary.
  func card(_ workload: String, _ body: String) -> String {
    let summary = summaries[workload].map { "<small>\(HTML.escaped($0))</small>" } ?? ""
    return """
      <figure>
      <figcaption>\(HTML.escaped(workload))\(summary)</figcaption>
      \(body)</figure>

      """
  }

  /// Returns a row of a plot: an engine's name, its drawing, its figure.
  func row(_ engine: EngineName, _ drawing: String, _ text: String) -> String {
    """
    <div class="row \(Self.colour(of: engine))"><span>\(HTML.escaped(engine.rawValue))</span>\
    <svg aria-hidden="true">\(drawing)</svg><b>\(HTML.escaped(text))</b></div>

    """
  }
}
