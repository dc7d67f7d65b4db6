import ArgumentParser
import MsgStore
import MsgStoreTools
import PageFile

/// Checks all invariants of a store.
struct CheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Checks every invariant; prints a line for each finding, or a summary when all hold.",
    discussion: "The exit status is 1 when there are findings.")

  @OptionGroup var storeArgument: StoreArgument

  func run() throws {
    let output = Output()
    let findings = try findings()
    for finding in findings { try output.line(finding.visible) }
    if findings.isEmpty { try output.line(summary()) }
    try output.flush()
    if !findings.isEmpty { throw MsgDump.findings }
  }

  /// Returns the findings of the messages' own check.
  ///
  /// If the store is too damaged to be opened as a message store, that is a finding, and its pages
  /// are checked by themselves.
  private func findings() throws -> [String] {
    do {
      return try storeArgument.open().check().map(\.description)
    } catch  where ToolError.isCorruption(error) {
      var findings = [ToolError.sentence(for: error)]
      do {
        try storeArgument.inspect().check { findings.append($0.description) }
      } catch  where ToolError.isCorruption(error) {
        // The pages cannot be reached either; the reason is already among the findings.
      }
      return findings
    }
  }

  private func summary() throws -> String {
    let pageCount = try storeArgument.inspect().file().pageCount
    var conversationCount = 0
    var messageCount = 0
    try storeArgument.open().readOnce { snapshot in
      try snapshot.forEachConversation { conversation in
        conversationCount += 1
        messageCount += conversation.messageCount
      }
    }
    return "fine: \(messageCount.counted("message")) in "
      + "\(conversationCount.counted("conversation")), \(pageCount.counted("page"))"
  }
}
