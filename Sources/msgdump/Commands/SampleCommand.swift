import ArgumentParser

/// Makes the chat that the demonstration shows.
struct SampleCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sample",
    abstract: "Writes a made-up chat as JSON lines, always the same one.")

  @Option(help: "How many messages the longest thread has.")
  var messages = 3000

  func validate() throws {
    guard (1...10_000_000).contains(messages) else {
      throw ValidationError("the longest thread has 1 to 10000000 messages")
    }
  }

  func run() throws {
    let output = Output()
    try SampleChat(longThreadMessageCount: messages).forEachRecord(output.record)
    try output.flush()
  }
}
