import ArgumentParser

/// All that a run has to say.
package struct Report {
  package enum Format: String, CaseIterable, ExpressibleByArgument {
    case text, json, html
  }

  var machine: Machine
  /// Names and values, in the order in which they are printed.
  var settings: [(name: String, value: JSONValue)]
  /// What each engine was made with.
  var engines: [(name: EngineName, settings: String)]
  /// What is one operation, by workload.
  var summaries: [String: String]
  var figures: [Figure]

  package init(
    machine: Machine, settings: [(name: String, value: JSONValue)],
    engines: [(name: EngineName, settings: String)], summaries: [String: String] = [:],
    figures: [Figure]
  ) {
    self.machine = machine
    self.settings = settings
    self.engines = engines
    self.summaries = summaries
    self.figures = figures
  }

  package func text(as format: Format) -> String {
    switch format {
    case .text: text
    case .json: json
    case .html: html
    }
  }

  // MARK: What the formats have in common

  /// Those who have figures, in the order of their columns.
  var measured: [EngineName] {
    EngineName.allCases.filter { name in figures.contains { $0.engine == name } }
  }

  /// In the order in which they ran.
  var workloads: [String] {
    var workloads: [String] = []
    for figure in figures where !workloads.contains(figure.workload) {
      workloads.append(figure.workload)
    }
    return workloads
  }

  func figure(of workload: String, by engine: EngineName) -> Figure? {
    figures.first { $0.workload == workload && $0.engine == engine }
  }

  var machineText: String {
    "\(machine.system); \(machine.processor), \(machine.coreCount) cores, "
      + "\(machine.memoryByteCount >> 30) GiB"
  }

  var settingsText: String {
    settings.map { "\($0.name) \($0.value.plain)" }.joined(separator: ", ")
  }
}

// MARK: - JSON

extension Report {
  package var json: String {
    let machine = JSONValue.object([
      ("date", .string(machine.date)), ("system", .string(machine.system)),
      ("processor", .string(machine.processor)), ("cores", .number(Double(machine.coreCount))),
      ("memory_bytes", .number(Double(machine.memoryByteCount))),
      ("file_system", .string(machine.fileSystem)), ("sqlite", .string(machine.sqliteVersion)),
    ])
    let results = figures.map { figure in
      JSONValue.object([
        ("engine", .string(figure.engine.rawValue)), ("workload", .string(figure.workload)),
        ("unit", .string(figure.unit)), ("median", .number(figure.median)),
        ("p99", .number(figure.p99)), ("operations", .number(Double(figure.operationCount))),
        ("versus", .object(figure.versus.map { ($0.engine.rawValue, .number($0.ratio)) })),
      ])
    }
    let whole = JSONValue.object([
      ("machine", machine), ("settings", .object(settings)),
      ("engines", .object(engines.map { ($0.name.rawValue, .string($0.settings)) })),
      ("results", .array(results)),
    ])
    return whole.text(depth: 0) + "\n"
  }
}

// MARK: - Text

extension Report {
  package var text: String {
    let width = engines.map(\.name.rawValue.count).max() ?? 0
    let engineLines = engines.map { engine in
      let space = String(repeating: " ", count: max(10, width + 2) - engine.name.rawValue.count)
      return "\(engine.name.rawValue)\(space)\(engine.settings)\n"
    }.joined()
    return """
      machine   \(machineText)
      files     \(machine.fileSystem)
      date      \(machine.date)
      settings  \(settingsText)
      \(engineLines)
      \(table("median") { $0.medianText })
      \(table("99th percentile") { $0.p99Text })
      \(ratioTable)
      """
  }

  /// A row a workload and a column an engine; workloads without any such text have no row.
  private func table(_ title: String, _ text: (Figure) -> String?) -> String {
    var table = TextTable(header: [title] + measured.map(\.rawValue))
    for workload in workloads {
      let cells = measured.map { figure(of: workload, by: $0).flatMap(text) ?? "" }
      if cells.contains(where: { !$0.isEmpty }) { table.add([workload] + cells) }
    }
    return table.text
  }

  /// How many times longer each other engine takes than ours.
  private var ratioTable: String {
    let others = measured.filter { $0 != .msgstore }
    guard !others.isEmpty, measured.contains(.msgstore) else { return "" }
    var table = TextTable(header: ["versus msgstore"] + others.map(\.rawValue))
    for workload in workloads {
      let ratios = figure(of: workload, by: .msgstore)?.versus ?? []
      guard !ratios.isEmpty else { continue }
      table.add(
        [workload]
          + others.map { name in ratios.first { $0.engine == name }?.ratio.ratioText ?? "" })
    }
    return table.text
  }
}

extension Figure {
  /// The median as a person reads it.
  var medianText: String {
    switch unit {
    case Self.perOperation: Number.duration(median)
    case Self.byte: Number.text(median / 1_048_576, digits: 1) + " MiB"
    // Tenths of a byte say something of messages, not of what is written for them.
    case Self.perMessage where median < 1_000: Number.text(median, digits: 1) + " B/msg"
    case Self.perMessage: Number.grouped(Int(median.rounded())) + " B/msg"
    case Self.perCommit: Number.grouped(Int(median.rounded())) + " B"
    default: median.ratioText
    }
  }

  /// What is measured once has no percentile.
  var p99Text: String? {
    unit == Self.perOperation ? Number.duration(p99) : nil
  }
}

extension Double {
  var ratioText: String { Number.text(self, digits: 2) + " ×" }
}
