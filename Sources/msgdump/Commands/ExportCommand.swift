import ArgumentParser
import MsgStore
import MsgStoreTools
import PageFile

/// Writes the whole store, or a part of it, as lines of JSON.
struct ExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Writes everything as JSON lines to standard output.",
    discussion: """
      A store restored from an export has the same export, byte for byte. A part can be restored \
      like the whole; it says nothing of what it leaves out, so that a client fetches the rest.
      """)

  @OptionGroup var storeArgument: StoreArgument
  @OptionGroup var times: TimeOptions

  @Option(help: "The only conversation to export.")
  var conversation: String?

  @Option(
    help: ArgumentHelp(
      "The earliest server time of a message to export, such as 2024-01-31.",
      valueName: "date"))
  var since: String?

  func validate() throws {
    guard since.map({ times.format.parse($0) != nil }) ?? true else {
      throw ValidationError("--since takes a date such as 2024-01-31 or 2024-01-31T18:05")
    }
  }

  func run() throws {
    let scope = ExportScope(
      conversation: conversation.map { ConversationID($0) },
      since: since.flatMap(times.format.parse))
    let store = try storeArgument.open()
    do {
      try Progress.showing("writing lines") { progress in
        try store.exportLines(of: scope) {
          try System.writeToStandardOutput($0)
        } progress: {
          progress.tell($0.messageCount, of: $0.totalMessageCount)
        }
      }
    } catch StoreError.storage(.snapshotExpired) {
      throw ToolError.ownerTooQuick
    } catch StoreError.conversation(.notFound, let id) {
      throw ToolError.failure("there is no conversation \"\(id)\"")
    }
  }
}
