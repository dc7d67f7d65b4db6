import Foundation
import MsgStore
import PageFile

/// Owns the store now and then, for a few steps, among others who do the same.
///
/// What it says: `own` with the number of the last step whenever it has got the store, and the number of
/// each step whose commit has returned.
enum HandOver {
  static func run(_ path: String, seed: UInt64) throws {
    var random = Randomness(state: seed)
    var store: MessageStore?
    while true {
      do {
        if let store { try store.resume() }
        let owned = try store ?? MessageStore(path: path, options: CrashWriter.options())
        store = owned
        try write(to: owned, &random)
        switch random.next() % 4 {
        case 0:
          try owned.close()
          store = nil
        case 1: store = nil
        case let choice: try owned.suspend(checkpoints: choice == 2)
        }
      } catch StoreError.storage(.busy(_)) {
        CrashWriter.say("busy")
      }
      usleep(UInt32(random.next() % 4000))
    }
  }

  private static func write(to store: MessageStore, _ random: inout Randomness) throws {
    var number = try CrashStep.lastNumber(in: store)
    CrashWriter.say("own \(number)")
    for _ in 0..<random.next() % 12 {
      number += 1
      let step = CrashStep(number)
      try store.write(.full) { try step.run(number, $0) }
      CrashWriter.say("\(number)")
    }
    if random.next() % 4 == 0 { try store.checkpoint() }
  }

  /// Repeatable (SplitMix64).
  private struct Randomness {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = state
      mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }
  }
}

/// Reads the store beside its owners, over and over, and compares what belongs together.
///
/// What it says: the number of the last step it has seen, each time, or `busy`.
enum BesideOwner {
  static func read(_ path: String) throws {
    var store: MessageStore?
    while true {
      do {
        let opened = try store ?? MessageStore(path: path, options: CrashWriter.options(.readOnly))
        store = opened
        CrashWriter.say("\(try look(opened))")
      } catch StoreError.storage(.busy(_)) {
        CrashWriter.say("busy")
      } catch StoreError.storage(.snapshotExpired) {
        CrashWriter.say("expired")
      }
      usleep(1000)
    }
  }

  /// The number of the last step, when there are as many messages as belong to it.
  private static func look(_ store: MessageStore) throws -> Int {
    try store.read { snapshot in
      let title = try snapshot.conversation(CrashStep.progress)?.title
      let number = title.flatMap { Int($0) } ?? 0
      var messageCount = 0
      for room in CrashStep.rooms {
        messageCount += try snapshot.conversation(room)?.messageCount ?? 0
      }
      let expected = (0...number).count { $0 > 0 && ![6, 8].contains($0 % 10) }
      guard messageCount == expected else {
        CrashWriter.fail("\(messageCount) messages after step \(number)")
      }
      return number
    }
  }
}
