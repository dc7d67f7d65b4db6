import ArgumentParser

/// Writes the chat used for demonstrations.
struct SampleCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sample",
    abstract: "Writes a made-up chat as JSON lines, always the same one.")

  @Option(help: "The number of messages in the longest thread.")
  var messages = 3000

  func validate() throws {
    guard (1...10_000_000).contains(messages) else {
      throw ValidationError("--messages: 1 to 10000000")
    }
  }

  func run() throws {
    let output = Output()
    try SampleChat(longThreadMessageCount: messages).forEachRecord(output.record)
    try output.flush()
  }
}
