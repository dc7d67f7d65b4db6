import PageFile

extension FoundViolation: CustomStringConvertible {
  /// A test that shows the failure, ready to be pasted.
  package var description: String {
    """

    // Seed \(seed): \(violation)
    @Test func \(violation.kind)OfSeed\(seed)() throws {
      try \(replay.source).run()
    }

    """
  }
}

extension Replay {
  /// The expression that makes it.
  package var source: String {
    var lines = "Replay(\n    StoreSetting("
    lines += "pageByteCount: \(setting.pageByteCount), cacheByteCount: \(setting.cacheByteCount), "
    lines += "profile: .\(setting.profile.name)"
    if setting.seals != nil { lines += ", seals: SealSource(seed: 1)" }
    lines += "),\n    lives: ["
    for life in lives {
      lines += "\n      Life(\n        \(life.operations.source),\n        crash: "
      lines += "\(life.crash.source), at: \(life.point.operation), \(life.point.call)"
      if let trouble = life.trouble { lines += ",\n        \(trouble.source)" }
      lines += "),"
    }
    lines += "\n    ]"
    if !last.isEmpty { lines += ",\n    last: \(last.source)" }
    if let trouble { lines += ",\n    \(trouble.source)" }
    return lines + ")"
  }
}

extension [Operation] {
  fileprivate var source: String { "[\(map(\.source).joined(separator: ", "))]" }
}

extension Operation {
  fileprivate var source: String {
    switch self {
    case .put(let key, let byteCount): ".put(\(key), byteCount: \(byteCount))"
    case .delete(let key): ".delete(\(key))"
    case .fill(let keys, let byteCount): ".fill(\(keys), byteCount: \(byteCount))"
    case .clear(let keys): ".clear(\(keys))"
    case .commit(let level): ".commit(.\(level))"
    case .checkpointBeside(let call, let level): ".checkpointBeside(\(call), .\(level))"
    case .suspend(let checkpoints): ".suspend(checkpoints: \(checkpoints))"
    default: ".\(self)"
    }
  }
}

extension Crash {
  fileprivate var source: String {
    switch self {
    case .kill: ".kill"
    case .powerCut(let cut):
      ".powerCut(PowerCut(kept: \(cut.kept)\(cut.hasGarbage ? ", hasGarbage: true" : "")))"
    }
  }
}

extension Trouble {
  fileprivate var source: String {
    switch self {
    case .room(let byteCount): ".room(\(byteCount))"
    case .fault(let fault): ".fault(\(fault.source))"
    }
  }
}

extension Fault {
  fileprivate var source: String {
    let call = call.map { ".\($0)" } ?? "nil"
    let count = count == .max ? ".max" : "\(count)"
    return "Fault(\(call), first: \(first), count: \(count), .\(reason), "
      + "failedSync: .\(failedSync))"
  }
}
