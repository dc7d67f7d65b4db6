import Foundation
import PageFile
import Schedules
import Simulation
import Testing

/// Several processes on one store, under schedules that decide at each system call who goes on, who is
/// killed, and who stands still.
///
/// All with few events, or random ones; a few in a normal run. `MSGSTORE_SWITCHES=3` tries three events
/// at every step, `MSGSTORE_SCHEDULES=100000` as many random schedules as are given.
struct ScheduleTests {
  private func explore(
    _ scripts: [Script], from image: (image: [String: [UInt8]], version: Int) = ([:], 0),
    kills: Bool = false, events: Int = 2, stride: Int, _ test: String = #function
  ) {
    var run = ScheduleRun(scripts)
    (run.image, run.version) = image
    let explorer = ScheduleExplorer()
    let wanted = number("MSGSTORE_SWITCHES")
    // With one event every step is tried also in a debug build.
    let wide = events == 1 ? stride : stride * Scale.count(debug: 2, release: 1)
    explorer.explore(
      run, eventCount: wanted ?? events, kills: kills, stride: wanted == nil ? wide : 1)
    expectNoFailure(explorer, test)
  }

  private func expectNoFailure(_ explorer: ScheduleExplorer, _ test: String) {
    print("\(test): \(explorer.runCount) schedules")
    for failure in explorer.failures.values { Issue.record("\(failure)") }
  }

  // MARK: Two at once

  @Test func ofTwoWhoMakeAStoreOneGetsIt() {
    explore([[.open, .write], [.open, .write]], kills: true, stride: 4)
  }

  @Test func ofTwoWhoRecoverAStoreOneDoes() throws {
    let image = try ScheduleExplorer.image(versions: 4, isClosed: false)
    explore([[.open, .write], [.open, .write]], from: image, kills: true, stride: 4)
  }

  @Test func handedOverStoresAreSeenWithAllThatTheOtherCommitted() throws {
    let script: Script = [.open, .write, .suspend, .resume, .write, .suspendWithoutCheckpoint]
    explore([script + [.resume, .read], script], stride: 7)
  }

  @Test(arguments: [true, false]) func readersSeeOneMomentBesideABusyOwner(isClosed: Bool) throws {
    let image = try ScheduleExplorer.image(versions: 5, isClosed: isClosed)
    let owner: Script = [.open, .write, .write, .checkpoint, .write, .close]
    let reader: Script = [.openForReading, .hold, .readHeld, .read, .readHeld]
    explore([owner, reader], from: image, stride: 7)
  }

  @Test func readersFollowAStoreFromItsCreationOn() {
    explore([[.open, .write], [.openForReading, .openForReading, .read]], stride: 3)
  }

  // MARK: One that stops

  @Test func whoeverComesAfterAKilledOwnerRecovers() throws {
    let image = try ScheduleExplorer.image(versions: 3, isClosed: false)
    let owner: Script = [
      .open, .write, .checkpoint, .write, .suspendWithoutCheckpoint, .resume, .write, .suspend,
      .resume, .write, .close,
    ]
    explore([owner, [.open, .write]], from: image, kills: true, events: 1, stride: 1)
    explore([owner, [.open, .write]], from: image, kills: true, stride: 29)
  }

  @Test func aStoreThatIsMovedIsNoticedAtTheNextTurn() throws {
    let image = try ScheduleExplorer.image(versions: 3, isClosed: true)
    let owner: Script = [.open, .write, .checkpoint, .write, .checkpoint, .write]
    explore([owner, [.moveStore]], from: image, stride: 11)
    explore([owner, [.moveStore]], stride: 11)
  }

  // MARK: Random

  @Test func randomSchedules() throws {
    let explorer = ScheduleExplorer()
    let first = UInt64.random(in: 0...999_999_999)
    print("randomSchedules from seed \(first)")
    for seed in first..<first + UInt64(number("MSGSTORE_SCHEDULES") ?? 200) {
      try explorer.playRandom(seed: seed)
    }
    expectNoFailure(explorer, "randomSchedules")
    // Otherwise the schedules have not done what they are for.
    for happened in ["busy", "write", "checkpoint", "resume", "readHeld", "moveStore"] {
      #expect(explorer.tally[happened] ?? 0 > 0, "\(happened) has not happened")
    }
  }

  /// The tests themselves: owners whom nothing keeps apart are found out.
  @Test func locksThatKeepNobodyOutAreNoticed() throws {
    var run = ScheduleRun([[.open, .write, .checkpoint], [.open, .write, .write]])
    (run.image, run.version) = try ScheduleExplorer.image(versions: 3, isClosed: false)
    run.grantsEveryLock = true
    let explorer = ScheduleExplorer()
    explorer.explore(run, eventCount: 1, kills: false)
    #expect(!explorer.failures.isEmpty)
  }

  private func number(_ variable: String) -> Int? {
    ProcessInfo.processInfo.environment[variable].flatMap { Int($0) }
  }
}
