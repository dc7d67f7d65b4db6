import ArgumentParser
import MsgStore
import MsgStoreTools

/// Makes a new store from lines of JSON.
struct RestoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Makes a new store from JSON lines.",
    discussion: """
      The store is built beside its place, under a name that ends with .restoring, and gets its \
      own name when it is complete. If a line is wrong, nothing is left behind. With a key the \
      new store is encrypted.
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

  @Option(
    help: ArgumentHelp(
      "Keep an unknown field of messages as an own field; may be repeated.", valueName: "name"))
  var ownField: [String] = []

  @Option(help: "The member who owns the store; overrides the file.")
  var localMember: String?

  @OptionGroup var key: KeyOptions

  func run() throws {
    let encryption = try key.encryption()
    let input = try InputFile(path: file)
    let byteCount = file == "-" ? nil : try System.fileByteCount(at: file)
    var options = RestoreOptions(
      isLenient: lenient, numbersFromOrder: sequenceFromOrder,
      localMember: localMember.map { MemberID($0) })
    options.ownFields = Set(ownField)
    let summary = try Progress.showing("reading lines") { progress in
      do {
        return try MessageStore.restore(
          to: store, options: options, encryption: encryption,
          watch: System.removeWhenInterrupted,
          source: { buffer, offset in try input.read(into: &buffer, at: offset) },
          progress: { done in
            if let compaction = done.compaction { return progress.tell(compaction) }
            progress.tell(done.byteCount, of: byteCount ?? 0)
          })
      } catch StoreToolError.malformedLine(let line, let column, let reason)
        where reason.hasPrefix("unknown ")
      {
        let keeps = reason.hasSuffix(" of a message") ? "; --own-field keeps it" : ""
        throw StoreToolError.malformedLine(
          line: line, column: column, reason: reason + keeps + "; --lenient skips it")
      }
    }
    try report(summary)
  }

  private func report(_ summary: RestoreSummary) throws(ToolError) {
    let output = Output()
    try output.line(
      "restored: \(summary.messageCount.counted("message")) in "
        + summary.conversationCount.counted("conversation"))
    let parts = [
      (summary.repeatedRecordCount, "repeated record"), (summary.unknownLineCount, "unknown line"),
      (summary.unknownFieldCount, "unknown field"),
    ].filter { $0.0 > 0 }.map { $0.counted($1) }
    if !parts.isEmpty { try output.line("passed over: \(parts.joined(separator: ", "))") }
    try output.flush()
  }
}
