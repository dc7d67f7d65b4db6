/// What happens to a store on a disk whose calls fail, or that is full.
///
/// The operations are played as often as there are calls, each time with another one failing, once
/// and for good, in each way. The program goes on as programs do; then the process is killed or the
/// power cut, and the disk works again: what is there has to be what was promised, and to be usable.
extension Explorer {
  /// - Parameter countMax: How many of the troubles are tried at most.
  package func exploreTroubles(_ operations: [Operation], maximumCount: Int = .max) {
    let player = Player(SimulatedDisk(), History(), plan.setting)
    player.countsPages = true
    let run = LifeRun(player) { _ in false }
    do throws(Violation) {
      try run.open()
      try run.play(operations, comparing: true)
    } catch {
      return fail(error, [], operations)
    }
    let callCounts = player.directory.callCounts
    let byteCount = player.directory.disk.byteCount
    player.die()
    report.counts.add(player.counts)
    var troubles = Trouble.all(callCounts: callCounts, byteCount: byteCount, &random)
    // Of each kind at least one stays.
    var kindCounts = Dictionary(troubles.map { ($0.kind, 1) }, uniquingKeysWith: +)
    while troubles.count > max(maximumCount, kindCounts.count) {
      let index = random.below(troubles.count)
      guard let count = kindCounts[troubles[index].kind], count > 1 else { continue }
      kindCounts[troubles[index].kind] = count - 1
      troubles.remove(at: index)
    }
    for trouble in troubles { explore(operations, trouble) }
  }

  private func explore(_ operations: [Operation], _ trouble: Trouble) {
    report.addTrouble(trouble)
    do throws(Violation) {
      let outcome = try StateCheck(plan.setting).run(
        SimulatedDisk(), History(), then: operations, trouble, capturing: { _ in true })
      report.counts.add(outcome.counts)
      guard let last = outcome.captures.last else { return }
      for crash in plan.choices.ends(last.disk, &random) {
        visit(last, crash, after: [], operations, trouble)
      }
      // A moment at which the program has not yet noticed, or is about to open anew.
      let chosen = outcome.captures[random.below(outcome.captures.count)]
      let crash = plan.choices.crash(chosen.disk, &random)
      visit(chosen, crash, after: [], operations, trouble)
    } catch {
      fail(error, [], operations, trouble)
    }
  }
}

extension CrashChoices {
  /// A few crashes of each kind.
  func ends(_ disk: SimulatedDisk, _ random: inout SeededRandom) -> [Crash] {
    let all = PowerCut(kept: [0..<disk.pendingUnitCount])
    return [.kill, .powerCut(PowerCut()), .powerCut(all), crash(disk, &random)]
  }
}

extension Trouble {
  /// Everything that can go wrong with so many calls of each kind.
  static func all(
    callCounts: [Int], byteCount: Int, _ random: inout SeededRandom
  ) -> [Trouble] {
    var troubles: [Trouble] = []
    for call in Fault.Call.allCases {
      let callCount = callCounts[call.rawValue]
      for number in 0..<callCount {
        for count in [1, .max] {
          for fault in faults(call, first: number + 1, count: count) {
            troubles.append(.fault(fault))
          }
        }
      }
    }
    let callCount = callCounts.reduce(0, +)
    for number in stride(from: 1, through: callCount, by: 3) {
      let fault = Fault(nil, first: number, count: 1 + random.below(30), .locked)
      troubles.append(.fault(fault))
    }
    for room in stride(from: 0, to: byteCount, by: 12288) { troubles.append(.room(room)) }
    return troubles
  }

  private static func faults(_ call: Fault.Call, first: Int, count: Int) -> [Fault] {
    switch call {
    case .sync:
      Fault.FailedSync.allCases.map { Fault(call, first: first, count: count, failedSync: $0) }
        + [Fault.Reason.full, .refused].flatMap { reason in
          [Fault.FailedSync.showsNew, .showsOld].map {
            Fault(call, first: first, count: count, reason, failedSync: $0)
          }
        }
        + [Fault(call, first: first, count: count, .locked)]
    case .read:
      [.broken, .locked].map { Fault(call, first: first, count: count, $0) }
    case .write, .extend, .name, .nameSync:
      Fault.Reason.ofAnyCall.map { Fault(call, first: first, count: count, $0) }
    }
  }

  /// For figures: the kind of calls, or what is missing.
  var kind: String {
    switch self {
    case .room: "room"
    case .fault(let fault): fault.call.map { "\($0)" } ?? "locked"
    }
  }
}
