import Foundation
import MovingFromSQLite
import MsgStore

/// Moves the messages of an SQLite file to a store, and makes such a file to try it with.
///
///     move-from-sqlite make FILE COUNT                 an old file with made-up messages
///     move-from-sqlite run FILE STORE [BATCH [PAUSE]]  moves it, or the rest of it
///
/// BATCH is the number of messages in a commit, and PAUSE a number of milliseconds to wait after
/// each.
@main
struct MoveFromSQLite {
  static func main() throws {
    let arguments = CommandLine.arguments.dropFirst()
    let numbers = arguments.dropFirst(3).compactMap { Int($0) }
    switch (arguments.first, arguments.count) {
    case ("make", 3):
      guard let path = arguments.dropFirst().first, let count = arguments.last.flatMap({ Int($0) })
      else { usage() }
      try SampleFile.make(at: path, messageCount: max(0, count))
    case ("run", 3...5) where numbers.count == arguments.count - 3:
      let paths = Array(arguments.dropFirst().prefix(2))
      try run(
        paths[0], paths[1], batchCount: numbers.first ?? 1000, pause: numbers.dropFirst().first)
    default: usage()
    }
  }

  private static func usage() -> Never {
    print("usage: move-from-sqlite make FILE COUNT")
    print("       move-from-sqlite run FILE STORE [BATCH [PAUSE]]")
    exit(2)
  }

  private static func run(
    _ old: String, _ new: String, batchCount: Int, pause: Int?
  ) throws {
    let store = try MessageStore(path: new, options: .init(localMember: SampleFile.member))
    let clock = ContinuousClock()
    let start = clock.now
    let move = Move(from: old, to: store, of: SampleFile.member, batchCount: batchCount)
    var end = start
    let report = try move.run { state in
      // At once, also into a file: the tests wait for it.
      FileHandle.standardOutput.write(Data("\(state.doneCount) of \(state.totalCount)\n".utf8))
      end = clock.now
      if let pause { Thread.sleep(forTimeInterval: Double(pause) / 1000) }
    }
    try store.close()
    print("moved \(report.movedCount), refused \(report.refusedCount)")
    for refusal in report.refusals {
      print("\(refusal.table) \(refusal.row): \(refusal.reason) \(refusal.detail ?? "")")
    }
    print("batches in \(end - start), with comparison and checkpoint in \(clock.now - start)")
  }
}
