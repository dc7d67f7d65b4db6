import ArgumentParser

/// The complete report of a run.
package struct Report {
  package enum Format: String, CaseIterable, ExpressibleByArgument {
    case text, json, html
  }

  package var machine: Machine
  /// Names and values, in printing order.
  var settings: [(name: String, value: JSONValue)]
  /// The settings with which each engine was opened.
  var engines: [(name: EngineName, settings: String)]
  /// The unit of operation, by workload.
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

  /// The engines that have figures, in column order.
  var measured: [EngineName] {
    EngineName.allCases.filter { name in figures.contains { $0.engine == name } }
  }

  /// The workloads, in the order in which they ran.
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
      ("file_system", .string(machine.fileSystem)), ("load", .number(machine.load)),
      ("sqlite", .string(machine.sqliteVersion)),
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
    let header = """
      machine   \(machineText)
      files     \(machine.fileSystem)
      load      \(Number.text(machine.load, digits: 1)) at the beginning
      date      \(machine.date)
      settings  \(settingsText)
      \(engineLines)
      """
    let tables = [
      table("median", of: measured) { figure(of: $0, by: $1)?.medianText },
      table("99th percentile", of: measured) { figure(of: $0, by: $1)?.p99Text },
      table("versus msgstore", of: measured.filter { $0 != .msgstore }) { workload, engine in
        figure(of: workload, by: .msgstore)?.versus.first { $0.engine == engine }?.ratio.ratioText
      },
    ]
    return ([header] + tables.compactMap { $0 }).joined(separator: "\n")
  }

  /// Returns a table with a row for each workload and a column for each engine, without empty rows.
  private func table(
    _ title: String, of engines: [EngineName], _ text: (String, EngineName) -> String?
  ) -> String? {
    let rows = workloads.map { workload in [workload] + engines.map { text(workload, $0) ?? "" } }
      .filter { $0.dropFirst().contains { !$0.isEmpty } }
    guard !rows.isEmpty else { return nil }
    var table = TextTable(header: [title] + engines.map(\.rawValue))
    for row in rows { table.add(row) }
    return table.text
  }
}

extension Figure {
  /// The median in readable form.
  var medianText: String {
    switch unit {
    case Self.perOperation: Number.duration(median)
    case Self.byte: Number.text(median / 1_048_576, digits: 1) + " MiB"
    // Tenths of a byte matter for the size of messages, but not for the bytes written for them.
    case Self.perMessage where median < 1_000: Number.text(median, digits: 1) + " B/msg"
    case Self.perMessage: Number.grouped(Int(median.rounded())) + " B/msg"
    case Self.perRead: Number.text(median / 1_024, digits: 1) + " KiB"
    case Self.share: Number.text(median * 100, digits: 1) + " %"
    case Self.pages, Self.calls: Number.text(median, digits: 1)
    case Self.count: Number.grouped(Int(median.rounded()))
    case Self.perDay: Number.duration(median)
    case Self.perCommit: Number.grouped(Int(median.rounded())) + " B"
    default: median.ratioText
    }
  }

  /// The 99th percentile in readable form; nil for figures measured only once.
  var p99Text: String? {
    unit == Self.perOperation ? Number.duration(p99) : nil
  }
}

extension Double {
  var ratioText: String { Number.text(self, digits: 2) + " ×" }
}
