import PageFile

/// Makes a failure small: leaves out what it does not need, as long as the same promise is broken.
///
/// When an operation is left out, what is pending at the crash differs, and so does what the crash
/// kept. So for the last crash others at the same operation are tried, too.
package struct Shrinker {
  private let kind: Violation.Kind
  private var best: Replay
  private var violation: Violation
  private var runsLeft: Int

  /// The smallest replay that was found within a number of runs.
  package static func shrink(_ failure: FoundViolation, maximumRunCount: Int = 4000)
    -> FoundViolation
  {
    var shrinker = Shrinker(failure, maximumRunCount)
    shrinker.shrink()
    return FoundViolation(violation: shrinker.violation, replay: shrinker.best, seed: failure.seed)
  }

  private init(_ failure: FoundViolation, _ maximumRunCount: Int) {
    kind = failure.violation.kind
    best = failure.replay
    violation = failure.violation
    runsLeft = maximumRunCount
  }

  private mutating func shrink() {
    for index in best.lives.indices { best.lives[index].dropSuffix() }
    var size = Int.max
    while best.size < size && runsLeft > 0 {
      size = best.size
      dropLives()
      dropOperations()
      makeOperationsSmaller()
      makeCrashesSimpler()
    }
  }

  /// Takes a candidate over if it fails in the same way.
  private mutating func take(_ candidate: Replay) -> Bool {
    guard runsLeft > 0 else { return false }
    runsLeft -= 1
    do throws(Violation) {
      try candidate.run()
      return false
    } catch {
      guard error.kind == kind else { return false }
      best = candidate
      violation = error
      return true
    }
  }

  /// The same with any crash at the operation that the last life ends in.
  private mutating func takeWithAnyCrash(_ candidate: Replay) -> Bool {
    if take(candidate) { return true }
    guard let last = candidate.lives.last else { return false }
    let all = PowerCut(kept: [0..<1 << 20])
    var other = candidate
    for call in 0..<24 {
      for crash in [last.crash, .kill, .powerCut(PowerCut()), .powerCut(all)] {
        other.lives[other.lives.count - 1].point.call = call
        other.lives[other.lives.count - 1].crash = crash
        if take(other) { return true }
      }
    }
    return false
  }

  private mutating func dropLives() {
    for index in best.lives.indices.reversed() where index < best.lives.count {
      var candidate = best
      candidate.lives.remove(at: index)
      _ = takeWithAnyCrash(candidate)
    }
  }

  /// Leaves out operations, many at once first.
  private mutating func dropOperations() {
    for life in 0...best.lives.count {
      var length = max(1, best.operations(life).count / 2)
      while true {
        var start = 0
        while start < best.operations(life).count {
          let range = start..<min(start + length, best.operations(life).count)
          var candidate = best
          candidate.removeOperations(range, from: life)
          if !takeWithAnyCrash(candidate) { start += length }
        }
        if length == 1 { break }
        length /= 2
      }
    }
  }

  private mutating func makeOperationsSmaller() {
    for life in 0...best.lives.count {
      for index in best.operations(life).indices {
        for smaller in best.operations(life)[index].smaller {
          var candidate = best
          candidate.replaceOperation(index, in: life, by: smaller)
          if takeWithAnyCrash(candidate) { break }
        }
      }
    }
  }

  private mutating func makeCrashesSimpler() {
    for index in best.lives.indices {
      guard case .powerCut(let cut) = best.lives[index].crash else { continue }
      var candidates = [Crash.kill, .powerCut(PowerCut()), .powerCut(PowerCut(kept: cut.kept))]
      for range in cut.kept.indices {
        var simpler = cut
        simpler.kept.remove(at: range)
        candidates.append(.powerCut(simpler))
      }
      for crash in candidates where crash != best.lives[index].crash {
        var candidate = best
        candidate.lives[index].crash = crash
        if take(candidate) { break }
      }
    }
  }
}

extension Life {
  /// Leaves out what would come after the crash.
  fileprivate mutating func dropSuffix() {
    operations = Array(operations.prefix(point.operation))
  }
}

extension Replay {
  /// What shrinking makes smaller.
  fileprivate var size: Int {
    var size = last.count
    for life in lives {
      size += 10 + life.operations.count
      if case .powerCut(let cut) = life.crash { size += 1 + cut.kept.count }
    }
    return (0...lives.count).reduce(size) { size, life in
      operations(life).reduce(size) { $0 + $1.smaller.count }
    }
  }

  /// The operations of a life; behind the last life come those of the process that sees the failure.
  fileprivate func operations(_ life: Int) -> [Operation] {
    life < lives.count ? lives[life].operations : last
  }

  fileprivate mutating func removeOperations(_ range: Range<Int>, from life: Int) {
    guard life < lives.count else { return last.removeSubrange(range) }
    lives[life].operations.removeSubrange(range)
    let before = range.prefix { $0 < lives[life].point.operation }.count
    lives[life].point.operation -= before
  }

  fileprivate mutating func replaceOperation(_ index: Int, in life: Int, by other: Operation) {
    if life < lives.count {
      lives[life].operations[index] = other
    } else {
      last[index] = other
    }
  }
}

extension Operation {
  /// Simpler operations that may do as well, the simplest first.
  fileprivate var smaller: [Operation] {
    switch self {
    case .put(let key, let byteCount) where byteCount > 8:
      [.put(key, byteCount: 8), .put(key, byteCount: byteCount / 2)]
    case .fill(let keys, let byteCount):
      [.put(keys.lowerBound, byteCount: byteCount)]
        + (keys.count > 1
          ? [.fill(keys.lowerBound..<keys.lowerBound + keys.count / 2, byteCount: byteCount)] : [])
        + (byteCount > 8 ? [.fill(keys, byteCount: byteCount / 2)] : [])
    case .clear(let keys):
      [.delete(keys.lowerBound)]
        + (keys.count > 1
          ? [.clear(keys.lowerBound..<keys.lowerBound + keys.count / 2)] : [])
    case .commit(.full): [.commit(.relaxed)]
    case .checkpointBeside: [.checkpoint]
    default: []
    }
  }
}
