import ArgumentParser
import MsgStore

/// Writes the whole store as lines of JSON.
struct ExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Writes everything as JSON lines to standard output.",
    discussion: "A store restored from an export has the same export, byte for byte.")

  @OptionGroup var storeArgument: StoreArgument

  func run() throws {
    let store = try storeArgument.open()
    let output = Output()
    try StoreExport.records(of: store) { try output.record($0) }
    try output.flush()
  }
}
