import Foundation
import MsgStore

/// Commits one step after the other, each durable, until somebody kills it.
///
/// It goes on where the store ends, and says on standard output, at once, what it is about to do and
/// what is done: `opening`, then `begin` with the number of the last step that is there, then the
/// number of each step whose commit has returned.
@main
struct CrashWriter {
  static func main() {
    guard CommandLine.arguments.count == 2 else { fail("usage: crash-writer STORE") }
    do {
      try write(to: CommandLine.arguments[1])
    } catch {
      fail("\(error)")
    }
  }

  private static func write(to path: String) throws {
    say("opening")
    let store = try MessageStore(
      path: path, options: StoreOptions(localMember: CrashStep.localMember))
    var number = try CrashStep.lastNumber(in: store)
    say("begin \(number)")
    while true {
      number += 1
      let step = CrashStep(number)
      try store.write(.full) { try step.run(number, $0) }
      say("\(number)")
      // Checkpoints by the size of the log alone would be rare here.
      if number % 50 == 0 { try store.checkpoint() }
    }
  }

  private static func say(_ words: String) {
    FileHandle.standardOutput.write(Data("\(words)\n".utf8))
  }

  private static func fail(_ words: String) -> Never {
    FileHandle.standardError.write(Data("\(words)\n".utf8))
    exit(2)
  }
}
