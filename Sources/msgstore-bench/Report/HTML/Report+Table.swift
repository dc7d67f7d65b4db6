/// The table of all figures, and the settings of the engines.
extension Report {
  var tableSection: String {
    let header = (["workload"] + measured.map(\.rawValue))
      .map { "<th scope=\"col\">\(HTML.escaped($0))</th>" }.joined()
    let rows = workloads.map { workload in
      let ours = figure(of: workload, by: .msgstore)
      let best = best(figures.filter { $0.workload == workload })
      let cells = measured.map { engine in
        figure(of: workload, by: engine).map { figure in
          cell(
            figure, ratio: ours?.versus.first { $0.engine == engine }?.ratio, isBest: engine == best
          )
        } ?? "<td></td>"
      }
      let summary = summaries[workload].map { "<small>\(HTML.escaped($0))</small>" } ?? ""
      return
        "<tr><th scope=\"row\">\(HTML.escaped(workload))\(summary)</th>\(cells.joined())</tr>\n"
    }
    return section(
      "All figures",
      "Medians; below them the 99th percentile, and how many times as long as msgstore an engine "
        + "takes, or how many times as many bytes. Less is better; the least is bold.",
      """
      <div class="scroll" tabindex="0"><table>
      <thead><tr>\(header)</tr></thead>
      <tbody>
      \(rows.joined())</tbody>
      </table></div>

      """)
  }

  private func cell(_ figure: Figure, ratio: Double?, isBest: Bool) -> String {
    var small = figure.p99Text.map { ["p99 \($0)"] } ?? []
    if let ratio { small.append(ratio.ratioText) }
    let lines = small.map { "<small>\(HTML.escaped($0))</small>" }.joined()
    return "<td\(isBest ? " class=\"best\"" : "")>\(HTML.escaped(figure.medianText))\(lines)</td>"
  }

  var engineSection: String {
    let machine = [
      ("machine", machineText), ("files", self.machine.fileSystem), ("date", self.machine.date),
      ("settings", settingsText),
    ]
    let rows = (machine + engines.map { ($0.name.rawValue, $0.settings) }).map { name, text in
      "<dt>\(HTML.escaped(name))</dt><dd>\(HTML.escaped(text))</dd>\n"
    }
    return section(
      "Machine and settings", "What each engine was made with.",
      "<dl>\n\(rows.joined())</dl>\n")
  }
}
