import MsgStore

/// Commits one step after the other, each durable, until somebody kills it.
///
/// It goes on where the store ends. What it says: `opening`; `begin` with the number of the last step
/// that is there; the number of each step whose commit has returned; `checkpoint`, `suspend` and `resume`
/// before these, and `resumed` with the number of the last step that is there then.
enum StepWriter {
  static func write(to path: String, afterFirstStep: () -> Void = {}) throws {
    CrashWriter.say("opening")
    let store = try MessageStore(path: path, options: CrashWriter.options())
    var number = try CrashStep.lastNumber(in: store)
    CrashWriter.say("begin \(number)")
    let first = number + 1
    while true {
      number += 1
      let step = CrashStep(number)
      try store.write(.full) { try step.run(number, $0) }
      CrashWriter.say("\(number)")
      if number == first { afterFirstStep() }
      // By the size of the log alone they would be rare here.
      if number % 10 == 5 {
        CrashWriter.say("checkpoint")
        try store.checkpoint()
      }
      if number % 10 == 0 {
        CrashWriter.say("suspend")
        try store.suspend(checkpoints: number % 20 == 0)
        CrashWriter.say("resume")
        try store.resume()
        CrashWriter.say("resumed \(try CrashStep.lastNumber(in: store))")
      }
    }
  }
}
