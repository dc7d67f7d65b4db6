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

  @Flag(help: "Print each finding, and at the end their number, as an object in a line of JSON.")
  var json = false

  func run() throws {
    let report = Report(
      Output(), form: json ? .json : .text(Terminal.current()), times: .utc)
    let findings = try Progress.showing("checking pages") { progress in
      try check(progress)
    }
    for finding in findings {
      if json {
        try report.fact("finding", .text(finding))
        try report.endFacts()
      } else {
        try report.line(finding.visible, .red)
      }
    }
    try report.fact("findings", .number(findings.count), shown: json)
    if findings.isEmpty { try summary(to: report) }
    try report.flush()
    if !findings.isEmpty { throw MsgDump.findings }
  }

  /// Returns the findings of the messages' own check.
  ///
  /// If the store is too damaged to be opened as a message store, that is a finding, and its pages
  /// are checked by themselves.
  private func check(_ progress: Progress) throws -> [String] {
    do {
      return try storeArgument.open().check { part in
        progress.begin("checking, part \(part + 1) of \(MessageStore.checkPartCount)")
      }.map(\.description)
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

  private func summary(to report: Report) throws {
    let pageCount = try storeArgument.inspect().file().pageCount
    var conversationCount = 0
    var messageCount = 0
    try storeArgument.open().readOnce { snapshot in
      try snapshot.forEachConversation { conversation in
        conversationCount += 1
        messageCount += conversation.messageCount
      }
    }
    try report.fact("messages", .number(messageCount), shown: json)
    try report.fact("conversations", .number(conversationCount), shown: json)
    try report.fact("pages", .number(pageCount), shown: json)
    try report.line(
      "fine: \(messageCount.counted("message")) in "
        + "\(conversationCount.counted("conversation")), \(pageCount.counted("page"))")
  }
}
