import ArgumentParser
import MsgStore

/// Inspects a store file, checks it, exports it, and makes a new one from an export.
///
/// Exit status: 0 on success, 1 if a check has findings or a salvage has losses, and 2 for invalid
/// arguments or a failure, which is reported in one line on standard error.
@main
struct MsgDump: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "msgdump",
    abstract: "Inspects a chat store.",
    discussion: """
      All commands open a store read-only, even while its owner has it open, and leave every file \
      unchanged; restore, salvage, compact, encrypt and decrypt make a new one, map and html a \
      page, and change-key alone writes to the store itself. The copies of an encrypted store are \
      encrypted under the same key, except for those of decrypt.
      """,
    version: "msgdump \(MessageStore.version)",
    subcommands: [
      InfoCommand.self, StatsCommand.self, ConversationsCommand.self, MessagesCommand.self,
      SearchCommand.self, GetCommand.self, ReceiptsCommand.self, OutboxCommand.self,
      GapsCommand.self, PagesCommand.self, PageCommand.self, TreeCommand.self,
      WALCommand.self, MapCommand.self, HTMLCommand.self,
      CheckCommand.self, ExportCommand.self, RestoreCommand.self, SalvageCommand.self,
      CompactCommand.self, BackupCommand.self, EncryptCommand.self, DecryptCommand.self,
      ChangeKeyCommand.self, SampleCommand.self,
    ])

  /// The exit status of a check that has findings.
  static let findings = ExitCode(1)
  /// The exit status of every failure.
  private static let failure: Int32 = 2

  static func main() {
    System.ignoreBrokenPipes()
    do {
      var command = try parseAsRoot()
      try command.run()
    } catch {
      System.exit(status(afterReporting: error))
    }
  }

  private static func status(afterReporting error: any Error) -> Int32 {
    switch error {
    case ToolError.outputClosed: return 0
    case let code as ExitCode: return code.rawValue
    default: break
    }
    if exitCode(for: error) == .success {
      // The parser reports a request for help as an error; the tool does not.
      return print(help: fullMessage(for: error))
    }
    let words = isOfParser(error) ? message(for: error) : ToolError.sentence(for: error)
    let line = words.split(whereSeparator: \.isNewline).joined(separator: " ")
    System.writeToStandardError("msgdump: \(line)\n")
    return failure
  }

  private static func isOfParser(_ error: any Error) -> Bool {
    error is ValidationError || exitCode(for: error) == .validationFailure
  }

  private static func print(help: String) -> Int32 {
    let output = Output()
    do {
      try output.line(help)
      try output.flush()
      return 0
    } catch {
      return error == .outputClosed ? 0 : failure
    }
  }
}
