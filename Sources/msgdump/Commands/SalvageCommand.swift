import ArgumentParser
import MsgStore
import MsgStoreTools
import PageFile

/// Copies everything readable of a damaged store into a new one.
struct SalvageCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "salvage",
    abstract: "Copies everything readable of a damaged store into a new one and lists the losses.",
    discussion: """
      The damaged files are read, and stay as they are. The new store is built beside its place, \
      under a name that ends with .salvaging, and gets its own name when it is complete. The exit \
      status is 1 when something is lost.
      """)

  @Argument(help: "The damaged store's data file.", completion: .file())
  var damaged: String

  @Argument(help: "The data file of the store to make.", completion: .file())
  var new: String

  func run() throws {
    try NewStorePlace.refuse(new, asFileOf: damaged, called: "the damaged store")
    let place = try NewStorePlace(path: new, work: "salvage", suffix: ".salvaging")
    let source = try PageSalvage(path: damaged)
    let saved: MessageSalvageReport
    do {
      saved = try MessageSalvage(source).run(path: place.temporaryPath)
      guard !source.haveFilesChanged else {
        throw ToolError.failure("\(damaged) was changed meanwhile; close it and try again")
      }
      try place.settle()
    } catch StoreError.storage(.busy(let path)) {
      // Another salvage was faster; the temporary file belongs to it.
      throw StoreError.storage(.busy(path: path))
    } catch {
      place.clear()
      throw error
    }
    let output = Output()
    try SalvageText(source.report, saved).print(to: output)
    try output.flush()
    if !source.report.isWhole || !saved.isWhole { throw MsgDump.findings }
  }
}

/// The report of a salvage, one line for each loss.
private struct SalvageText {
  private let pages: SalvageReport
  private let saved: MessageSalvageReport

  init(_ pages: SalvageReport, _ saved: MessageSalvageReport) {
    self.pages = pages
    self.saved = saved
  }

  func print(to output: Output) throws(ToolError) {
    for finding in pages.findings { try output.line(finding.visible) }
    for page in pages.lostPages { try output.line(line(page).visible) }
    for commit in pages.lostCommits { try output.line(line(commit).visible) }
    for record in saved.lostRecords {
      let tree = SchemaReport.treeName(record.tree)
      let key = SchemaReport.describeKey(record.key, tree: record.tree)
      try output.line(
        "lost a record of the tree \(tree) in page \(record.page), \(key): \(record.reason)".visible
      )
    }
    let rest = saved.lostRecordCount - saved.lostRecords.count
    if rest > 0 { try output.line("lost \(rest.counted("more record"))") }
    for repair in saved.repairs { try output.line(repair.visible) }
    for message in saved.incompleteMessages {
      let kinds = message.kinds.map(Self.name).joined(separator: ", ")
      try output.line(
        ("message \"\(message.message)\" of conversation \"\(message.conversation)\" "
          + "is saved without its \(kinds)").visible)
    }
    let others = saved.incompleteMessageCount - saved.incompleteMessages.count
    if others > 0 { try output.line("\(others.counted("more message")) likewise") }
    if saved.waitingCount > 0 {
      try output.line(
        "facts of \(saved.waitingCount.counted("lost message")) kept until it comes again")
    }
    for conversation in saved.shortfalls {
      try output.line(
        ("conversation \"\(conversation.conversation)\": \(conversation.savedCount) of "
          + "\(conversation.statedCount.counted("message")) saved").visible)
    }
    try output.line(
      "pages: \(pages.pageCount) read of \(pages.slotCount.counted("slot")), "
        + "\(pages.lostPages.count) lost; last commit \(pages.lastLSN)")
    try output.line(
      "saved: \(saved.messageCount.counted("message")) in "
        + saved.conversationCount.counted("conversation"))
    if saved.entryCount + saved.lostEntryCount > 0 {
      let lost = saved.lostEntryCount > 0 ? ", \(saved.lostEntryCount) lost" : ""
      try output.line("outbox: \(saved.entryCount.counted("entry", "entries")) saved, held\(lost)")
    }
    try output.line(
      pages.isWhole && saved.isWhole ? "nothing is lost" : "lost: \(missingCount)")
  }

  private var missingCount: String {
    // A damaged count may have any value.
    let count = saved.shortfalls.reduce(0) { min($0 + $1.statedCount - $1.savedCount, 1 << 60) }
    return count == 0 ? "no known message" : "at least \(count.counted("message"))"
  }

  private static func name(_ kind: FactKind) -> String {
    switch kind {
    case .version: "earlier versions"
    case .reaction: "reactions"
    case .attachment: "attachments"
    case .receipt: "receipts"
    case .waiting, .waitingMark: "marks"
    }
  }

  private func line(_ page: LostPage) -> String {
    var line = "lost "
    if let number = page.number { line += "page \(number)" } else { line += "a page" }
    if page.slot != .none { line += " in slot \(page.slot)" }
    if let role = page.role { line += ", \(role)" }
    if let tree = page.tree {
      line += " of the tree \(SchemaReport.treeName(tree))"
      if let lower = page.lower {
        line += " from \(SchemaReport.describeKey(lower, tree: tree))"
      }
      if let upper = page.upper { line += " up to \(SchemaReport.describeKey(upper, tree: tree))" }
    }
    return line + ": \(page.reason)"
  }

  private func line(_ commit: LostCommit) -> String {
    let reason = commit.wasDurable ? "it was durable" : "it may never have been finished"
    return "commit \(commit.lsn) in \(commit.file) at \(commit.offset), "
      + "\(commit.frameCount.counted("frame")), not applied: \(reason)"
  }
}
