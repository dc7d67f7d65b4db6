import Foundation
import MsgStore
import MsgStoreTools
import PageFile

/// Owns the store and changes all of it, over and over, until somebody kills it: what long calls of other
/// processes and threads come upon.
///
/// It says the number of each round.
enum BusyOwner {
  /// Rounds, a checkpoint or compaction after some, and a pause in which others may finish.
  static func run(_ path: String) throws {
    let store = try MessageStore(path: path, options: options())
    var round = try store.read { try BusyRound.last(in: $0) }
    while true {
      round += 1
      try store.write(.relaxed) { try BusyRound.run(round, $0) }
      CrashWriter.say("\(round)")
      if round % 4 != 0 { try store.checkpoint() }
      if round % 16 == 8 { try store.compact() }
      if round % 16 == 12 {
        try store.suspend(checkpoints: round % 32 == 12)
        usleep(20_000)
        try store.resume()
      }
      // Now and then long enough for a call to see the end of its moment.
      usleep(round % 16 == 0 ? 1_000_000 : 0)
    }
  }

  /// The same with the long calls in threads of this process.
  ///
  /// Says what came of each call, see `LongCalls`.
  static func runBesideCalls(_ path: String) throws {
    let store = try MessageStore(path: path, options: options())
    var round = try store.read { try BusyRound.last(in: $0) }
    let calls: [(String, @Sendable () throws -> String?)] = [
      ("check", { try store.check().first.map { "\($0)" } }),
      ("walk", { try store.read { try BusyRound.problem(in: $0) } }),
      ("compact", { try nothing { try store.compact() } }),
      ("checkpoint", { try nothing { try store.checkpoint() } }),
    ]
    for (name, call) in calls {
      Foundation.Thread.detachNewThread {
        while true {
          LongCalls.say(name, call)
          usleep(name == "checkpoint" ? 20_000 : 500)
        }
      }
    }
    while true {
      round += 1
      try store.write(.relaxed) { try BusyRound.run(round, $0) }
      CrashWriter.say("\(round)")
      if round % 10 == 0 {
        try store.suspend(checkpoints: round % 20 == 0)
        try store.resume()
      }
      // Now and then long enough for a whole compaction in a debug build on a busy machine: a
      // suspension ends it.
      usleep(round % 20 == 11 ? 5_000_000 : round % 10 == 1 ? 300_000 : 0)
    }
  }

  private static func nothing(_ body: () throws -> Void) throws -> String? {
    try body()
    return nil
  }

  /// With the fewest pages in memory, so that reads go to the files.
  static func options(_ access: StoreOptions.Access = .readWrite) -> StoreOptions {
    var options = CrashWriter.options(access)
    options.cacheByteCount = 1 << 18
    return options
  }
}

/// Calls that read all of a store, one after the other, beside its owner.
///
/// It says the name of a call and `done`, or the error that it ended with where documented; and
/// `WRONG` with what it found or threw otherwise.
enum LongCalls {
  static func run(_ path: String) throws {
    var kept: MessageStore?
    var number = 0
    while true {
      number += 1
      // One that stays open follows its owner; a new one has to recover.
      if number % 4 == 0 { kept = nil }
      let options = BusyOwner.options(.readOnly)
      say("open") {
        if kept == nil { kept = try MessageStore(path: path, options: options) }
        return nil
      }
      guard let store = kept else { continue }
      say("check") { try store.check().first.map { "\($0)" } }
      say("walk") { try store.read { try BusyRound.problem(in: $0) } }
      say("copy") {
        let copy = path + "-copy"
        for suffix in ["", "-wal0", "-wal1"] {
          try? FileManager.default.removeItem(atPath: copy + suffix)
        }
        try store.copy(to: copy)
        let new = try MessageStore(path: copy, options: options)
        if let finding = try new.check().first { return "the copy: \(finding)" }
        return try new.read { try BusyRound.problem(in: $0) }
      }
    }
  }

  /// Makes a call, which returns what is wrong or nil, and says what came of it.
  static func say(_ name: String, _ call: () throws -> String?) {
    let begin = ContinuousClock.now
    let outcome: String
    do {
      outcome = try call().map { "WRONG \($0)" } ?? "done"
    } catch StoreError.storage(.snapshotExpired) {
      outcome = "expired"
    } catch StoreError.storage(.busy(_)) {
      outcome = "busy"
    } catch StoreError.storage(.suspended) {
      outcome = "suspended"
    } catch {
      outcome = "WRONG \(error)"
    }
    let seconds = (ContinuousClock.now - begin).components.seconds
    CrashWriter.say("\(name) \(outcome)\(seconds > 50 ? " WRONG \(seconds) s" : "")")
  }
}
