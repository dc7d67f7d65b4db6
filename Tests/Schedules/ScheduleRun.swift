package import PageFile

/// One run of several processes on one store, from an image of its files on.
package struct ScheduleRun {
  package var scripts: [Script]
  /// What is there in the beginning, and the version it holds.
  package var image: [String: [UInt8]] = [:]
  package var version = 0
  package var seed: UInt64 = 0
  /// A planted defect, see `SharedDisk`.
  package var grantsEveryLock = false

  package init(_ scripts: [Script]) { self.scripts = scripts }

  /// What came of it.
  package struct Outcome: Sendable {
    package let steps: [Scheduler.Step]
    package let events: [Int: Scheduler.Event]
    package var violations: [String]
    package let tally: [String: Int]
  }

  package func play(_ schedule: Schedule, on workers: [Worker]) -> Outcome {
    let disk = SharedDisk(image, grantsEveryLock: grantsEveryLock)
    let oracle = Oracle(version: version)
    let scheduler = Scheduler(processCount: scripts.count, schedule: schedule) {
      disk.release($0)
    }
    // Files know their processes, and these know the disk.
    defer { disk.forgetFiles() }
    let seenMove = Locked(false)
    let (scripts, seed) = (scripts, seed)
    scheduler.run(on: workers) { process in
      Actor(process, disk, scheduler, oracle, seed: seed, seenMove: seenMove)
        .play(scripts[process])
    }
    var outcome = Outcome(
      steps: scheduler.steps, events: scheduler.events,
      violations: disk.foundBreaches + oracle.found, tally: oracle.tally)
    if outcome.violations.isEmpty {
      outcome.violations += lookAfterwards(disk, oracle, hasMoved: seenMove.withLock { $0 })
    }
    return outcome
  }

  /// Whoever comes last finds all that was acknowledged, a sound store, and can go on with it.
  private func lookAfterwards(_ disk: SharedDisk, _ oracle: Oracle, hasMoved: Bool) -> [String] {
    // Half of a store that was being moved is none.
    let name = hasMoved ? Actor.movedName : Actor.storeName
    if hasMoved && disk.image.keys.contains(where: { $0.hasPrefix(Actor.storeName) }) { return [] }
    let directory = ProcessDirectory(disk, process: scripts.count, nil)
    var options = DatabaseOptions()
    options.backgroundWork = .caller
    do throws(PageFileError) {
      let database = try Database(in: directory, name: name, options: options)
      let version = try Versions.read(try database.beginRead().source)
      oracle.ownerSees(version, "whoever comes last")
      let transaction = try database.beginWrite()
      try Versions.write(oracle.lastAcknowledged + 1, to: transaction.source)
      _ = try transaction.commit()
      try database.check { oracle.violate("a finding afterwards: \($0)") }
      try database.close()
    } catch {
      oracle.violate("whoever comes last gets \(error)")
    }
    return oracle.found + disk.foundBreaches
  }
}
