/// All that a run has to say.
struct Report {
  var machine: Machine
  /// Names and values, in the order in which they are printed.
  var settings: [(name: String, value: JSONValue)]
  var figures: [Figure]

  // MARK: JSON

  var json: String {
    let machine = JSONValue.object([
      ("system", .string(machine.system)), ("processor", .string(machine.processor)),
      ("cores", .number(Double(machine.coreCount))),
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
      ("machine", machine), ("settings", .object(settings)), ("results", .array(results)),
    ])
    return whole.text(depth: 0) + "\n"
  }

  // MARK: Text

  var text: String {
    let settings = settings.map { "\($0.name) \($0.value.plain)" }.joined(separator: ", ")
    return """
      machine   \(machine.system); \(machine.processor), \(machine.coreCount) cores, \
      \(machine.memoryByteCount >> 30) GiB
      files     \(machine.fileSystem)
      versions  SQLite \(machine.sqliteVersion)
      settings  \(settings)

      \(table)
      """
  }

  /// A row a workload; for each engine its median and 99th percentile, then how many times longer
  /// each other engine takes than ours.
  private var table: String {
    let engines = EngineName.allCases.filter { name in figures.contains { $0.engine == name } }
    let others = engines.contains(.msgstore) ? engines.filter { $0 != .msgstore } : []
    var table = TextTable(
      header: ["workload"] + engines.flatMap { [$0.rawValue, "p99"] }
        + others.map { "versus \($0.rawValue)" })
    var workloads: [String] = []
    for figure in figures where !workloads.contains(figure.workload) {
      workloads.append(figure.workload)
    }
    for workload in workloads {
      let row = figures.filter { $0.workload == workload }
      let cells = engines.flatMap { name -> [String] in
        guard let figure = row.first(where: { $0.engine == name }) else { return ["", ""] }
        return figure.cells
      }
      let ratios = row.first { $0.engine == .msgstore }?.versus ?? []
      table.add(
        [workload] + cells
          + others.map { name in
            ratios.first { $0.engine == name }.map { Number.text($0.ratio, digits: 2) + " ×" } ?? ""
          })
    }
    return table.text
  }
}

extension Figure {
  /// The median and the percentile as a person reads them.
  ///
  /// What is measured once has no percentile.
  fileprivate var cells: [String] {
    switch unit {
    case Figure.perOperation: [Number.duration(median), Number.duration(p99)]
    case "bytes": [Number.text(median / 1_048_576, digits: 1) + " MiB", ""]
    case "bytes/message": [Number.text(median, digits: 1) + " B/msg", ""]
    case "bytes/commit": [Number.text(median, digits: 0) + " B", ""]
    default: [Number.text(median, digits: 2) + " ×", ""]
    }
  }
}
