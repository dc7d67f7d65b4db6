import ArgumentParser
import MsgStore
import PageFile

/// Makes a new store from lines of JSON.
struct RestoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Makes a new store from JSON lines.",
    discussion: """
      The store is built beside its place, under a name that ends with .restoring, and gets its \
      own name when it is complete. If a line is wrong, nothing is left behind.
      """)

  @Argument(help: "The file with JSON lines; - is standard input.", completion: .file())
  var file: String

  @Argument(help: "The data file of the store to make.", completion: .file())
  var store: String

  @Flag(
    help: """
      Skip unknown fields and kinds of lines, and messages whose id is \
      already present.
      """)
  var lenient = false

  @Flag(help: "Number the messages of each conversation in the order of their lines.")
  var sequenceFromOrder = false

  @Option(help: "The member who owns the store; overrides the file.")
  var localMember: String?

  func run() throws {
    let input = try InputFile(path: file)
    let reader = JSONRecordReader(isLenient: lenient) { buffer, offset throws(ToolError) in
      try input.read(into: &buffer, at: offset)
    }
    let place = try NewStorePlace(path: store)
    do {
      let restorer = Restorer(
        isLenient: lenient, numbersFromOrder: sequenceFromOrder,
        localMember: localMember.map { MemberID($0) })
      let summary = try restorer.restore(reader) { options throws(StoreError) in
        try MessageStore(path: place.temporaryPath, options: options)
      }
      try place.settle()
      try report(summary)
    } catch StoreError.storage(.busy(let path)) {
      // Another restore was faster; the temporary file belongs to it.
      throw StoreError.storage(.busy(path: path))
    } catch {
      place.clear()
      throw error
    }
  }

  private func report(_ summary: Restorer.Summary) throws(ToolError) {
    let output = Output()
    try output.line(
      "restored: \(summary.messageCount.counted("message")) in "
        + summary.conversationCount.counted("conversation"))
    let parts = [
      (summary.repeatedCount, "repeated record"), (summary.passedOver.lineCount, "unknown line"),
      (summary.passedOver.fieldCount, "unknown field"),
    ].filter { $0.0 > 0 }.map { $0.counted($1) }
    if !parts.isEmpty { try output.line("passed over: \(parts.joined(separator: ", "))") }
    try output.flush()
  }
}
