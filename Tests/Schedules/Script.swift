/// What one simulated process does, one after the other; what it cannot do just then it leaves out.
package typealias Script = [ScriptStep]

/// A call of a simulated process.
package enum ScriptStep: Sendable, Hashable {
  /// Opens the store as its owner, or makes it.
  case open
  /// Opens it beside its owner.
  case openForReading
  case write
  case writeRelaxed
  case read
  /// Begins to read, and goes on with `readHeld` later.
  case hold
  case readHeld
  case checkpoint
  case suspend
  case suspendWithoutCheckpoint
  case resume
  case close
  /// Ends the process with all that it has open; nothing of it runs any more.
  case exit
  /// Gives the store's three files other names, without asking anybody.
  case moveStore
}

extension ScriptStep {
  /// A random part for one process, which is `exit` now and then.
  package static func random(_ count: Int, _ random: inout SplitMix) -> Script {
    if random.below(4) == 0 {
      let steps: Script = [.read, .read, .hold, .readHeld, .readHeld, .suspend, .resume, .close]
      return [.openForReading]
        + (1..<max(2, count)).map { _ in
          random.below(8) == 0 ? .openForReading : steps[random.below(steps.count)]
        }
    }
    let steps: Script = [
      .write, .write, .write, .write, .writeRelaxed, .read, .hold, .readHeld, .checkpoint,
      .checkpoint, .suspend, .suspendWithoutCheckpoint, .resume, .resume, .close, .open, .open,
    ]
    var script: Script = [.open]
    while script.count < count {
      script.append(random.below(40) == 0 ? .exit : steps[random.below(steps.count)])
    }
    return script
  }
}
