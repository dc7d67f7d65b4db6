import Foundation
import MsgStore

/// What the tests of processes start, and kill, stop, or take the rights from: one part for each kind
/// of trouble, named by the first word.
///
/// It says on standard output, at once, what it is about to do and what is done.
@main
struct CrashWriter {
  static func main() {
    let words = CommandLine.arguments.dropFirst()
    guard words.count >= 2 else { fail("usage: crash-writer PART STORE …") }
    let path = words[words.startIndex + 1]
    do {
      switch words.first {
      case "write": try StepWriter.write(to: path)
      case "hand-over": try HandOver.run(path, seed: UInt64(words.last ?? "") ?? 0)
      case "read": try BesideOwner.read(path)
      case "busy": try BusyOwner.run(path)
      case "busy-inside": try BusyOwner.runBesideCalls(path)
      case "long-calls": try LongCalls.run(path)
      #if os(Linux)
        case "fork": try Forks.run(path)
        case "fork-held": try Forks.suspendBesideAChild(path)
        case "descriptors": try Descriptors.run(path, report: words.last ?? "")
        case "unprivileged": try Unprivileged.run(path)
        case "memory": try Memory.measure(path)
        case "exhaust": try Memory.exhaust(path, kilobytes: Int(words.last ?? "") ?? 0)
      #endif
      default: fail("no such part")
      }
    } catch {
      fail("\(error)")
    }
  }

  static func options(_ access: StoreOptions.Access = .readWrite) -> StoreOptions {
    StoreOptions(localMember: access == .readOnly ? nil : CrashStep.localMember, access: access)
  }

  static func say(_ words: String) {
    FileHandle.standardOutput.write(Data("\(words)\n".utf8))
  }

  static func fail(_ words: String) -> Never {
    FileHandle.standardError.write(Data("\(words)\n".utf8))
    exit(2)
  }
}
