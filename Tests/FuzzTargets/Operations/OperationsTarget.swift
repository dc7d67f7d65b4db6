import PageFile
import Simulation

/// Runs what an input tells of lives, operations, faults and crashes on a simulated disk.
///
/// Everything that `Simulation` asks of a store is asked: each answer, each state after a crash.
/// Its own explorations choose at random; here what a run has reached decides what is tried next.
enum OperationsTarget {
  static func run(_ input: inout FuzzInput) throws(BrokenPromise) {
    let replay = Replay(&input)
    input.note(replay.source)
    do throws(Violation) {
      try replay.run()
    } catch {
      throw BrokenPromise("\(error)\ntry \(replay.source).run()")
    }
  }
}

extension Replay {
  init(_ input: inout FuzzInput) {
    let setting = StoreSetting(&input)
    let lives = (0..<input.index(below: 4)).map { _ in Life(&input) }
    let last = [Operation](&input)
    self.init(setting, lives: lives, last: last, Trouble(&input))
  }
}

extension StoreSetting {
  fileprivate init(_ input: inout FuzzInput) {
    self.init(
      pageByteCount: [4096, 4096, 8192, 16384, 32768][input.index(below: 5)],
      cacheByteCount: [0, 1 << 14, 1 << 16, 1 << 18, 1 << 20][input.index(below: 5)],
      profile: DiskProfile.all[input.index(below: DiskProfile.all.count)])
  }
}

extension Life {
  fileprivate init(_ input: inout FuzzInput) {
    let operations = [Operation](&input)
    let point = CrashPoint(
      operation: input.index(below: operations.count + 1), call: input.index(below: 40))
    let crash = Crash(&input)
    self.init(operations, crash: crash, at: point.operation, point.call, Trouble(&input))
  }
}

extension Crash {
  fileprivate init(_ input: inout FuzzInput) {
    switch input.index(below: 4) {
    case 0: self = .kill
    case 1: self = .powerCut(PowerCut())
    default:
      var end = 0
      let kept = (0...input.index(below: 5)).map { _ in
        let start = end + Int(input.number() & 0x3FF)
        end = start + Int(input.number() & 0x3FF)
        return start..<end
      }
      self = .powerCut(PowerCut(kept: kept, hasGarbage: input.bool()))
    }
  }
}

extension Trouble {
  /// None, mostly.
  fileprivate init?(_ input: inout FuzzInput) {
    switch input.index(below: 6) {
    case 0:
      let calls = Fault.Call.allCases.map(Optional.some) + [nil]
      self = .fault(
        Fault(
          calls[input.index(below: calls.count)], first: input.index(below: 60) + 1,
          count: input.bool() ? 1 : input.index(below: 30),
          Fault.Reason.allCases[input.index(below: Fault.Reason.allCases.count)],
          failedSync: Fault.FailedSync.allCases[input.index(below: Fault.FailedSync.allCases.count)]
        ))
    case 1: self = .room(input.index(below: 256) * 4096)
    default: return nil
    }
  }
}

extension [Operation] {
  private static let maximumCount = 40

  fileprivate init(_ input: inout FuzzInput) {
    self = (0..<input.index(below: Self.maximumCount)).map { _ in Operation(&input) }
  }
}

extension Operation {
  /// Keys of the model: 0 ..< 96.
  private static let keyCount = 96

  fileprivate init(_ input: inout FuzzInput) {
    switch input.index(below: 24) {
    case 0, 1, 2, 3: self = .put(Self.key(&input), byteCount: Self.byteCount(&input))
    case 4: self = .delete(Self.key(&input))
    case 5: self = .fill(Self.keys(&input), byteCount: Self.byteCount(&input) % 2000)
    case 6, 7: self = .clear(Self.keys(&input))
    case 8, 9: self = .commit(.full)
    case 10, 11: self = .commit(.relaxed)
    case 12: self = .rollback
    case 13: self = .checkpoint
    case 14: self = .checkpointBeside(input.index(below: 10), input.bool() ? .full : .relaxed)
    case 15: self = .background
    case 16: self = .reopen
    case 17: self = .suspend(checkpoints: input.bool())
    case 18, 19: self = .openReader
    case 20: self = .closeReader
    case 21: self = .compact
    case 22: self = .kill
    default: self = .cutPower
    }
  }

  private static func key(_ input: inout FuzzInput) -> Int { input.index(below: keyCount) }

  private static func keys(_ input: inout FuzzInput) -> Range<Int> {
    let start = key(&input)
    return start..<min(keyCount, start + 1 + input.index(below: keyCount))
  }

  private static func byteCount(_ input: inout FuzzInput) -> Int {
    input.bool() ? input.index(below: 256) : Int(input.raw(2)) % 14_000
  }
}
