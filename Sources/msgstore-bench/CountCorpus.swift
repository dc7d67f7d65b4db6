import ArgumentParser

/// The command that counts the proportions of a corpus, made up or from a file.
struct CountCorpus: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "count", abstract: "Counts the proportions of a corpus.")

  @Option(help: "The number of messages to count.")
  var messages = 439_085

  @Option(help: "A file of JSON lines to take messages from.")
  var corpus: String?

  @Option(help: "The seed that determines the messages.")
  var seed: UInt64 = 1

  func run() throws {
    guard let corpus else {
      return print(CorpusCount(madeUp: messages, seed: seed).text, terminator: "")
    }
    let file = try CorpusFile(path: corpus, limit: messages, seed: seed)
    print(CorpusCount(file, messageCount: file.count).text, terminator: "")
  }
}
