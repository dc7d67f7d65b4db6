import MsgStore
import PageFile
import PageFileSalvage

/// The report of a salvage, one line for each loss, and then its counts.
struct SalvageText {
  private let pages: SalvageReport
  private let saved: MessageSalvageReport

  init(_ pages: SalvageReport, _ saved: MessageSalvageReport) {
    self.pages = pages
    self.saved = saved
  }

  /// The lines, safe for a terminal whatever the names in the damaged store.
  var lines: [String] { (losses + counts).map(\.visible) }

  private var losses: [String] {
    var lines = pages.findings + pages.lostPages.map(line) + pages.lostCommits.map(line)
    for record in saved.lostRecords {
      let tree = SchemaReport.treeName(record.tree)
      let key = SchemaReport.describeKey(record.key, tree: record.tree)
      lines.append(
        "lost a record of the tree \(tree) in page \(record.page), \(key): \(record.reason)")
    }
    let rest = saved.lostRecordCount - saved.lostRecords.count
    if rest > 0 { lines.append("lost \(rest.counted("more record"))") }
    lines += saved.repairs
    for message in saved.incompleteMessages {
      let kinds = message.kinds.map(Self.name).joined(separator: ", ")
      lines.append(
        "message \"\(message.message)\" of conversation \"\(message.conversation)\" "
          + "is saved without its \(kinds)")
    }
    let others = saved.incompleteMessageCount - saved.incompleteMessages.count
    if others > 0 { lines.append("\(others.counted("more message")) likewise") }
    if saved.waitingCount > 0 {
      lines.append(
        "facts of \(saved.waitingCount.counted("lost message")) kept until it comes again")
    }
    for conversation in saved.shortfalls {
      lines.append(
        "conversation \"\(conversation.conversation)\": \(conversation.savedCount) of "
          + "\(conversation.statedCount.counted("message")) saved")
    }
    return lines
  }

  private var counts: [String] {
    var lines = [
      "pages: \(pages.pageCount) read of \(pages.slotCount.counted("slot")), "
        + "\(pages.lostPages.count) lost; last commit \(pages.lastLSN)",
      "saved: \(saved.messageCount.counted("message")) in "
        + saved.conversationCount.counted("conversation"),
    ]
    if saved.entryCount + saved.lostEntryCount > 0 {
      let lost = saved.lostEntryCount > 0 ? ", \(saved.lostEntryCount) lost" : ""
      lines.append("outbox: \(saved.entryCount.counted("entry", "entries")) saved, held\(lost)")
    }
    lines.append(pages.isWhole && saved.isWhole ? "nothing is lost" : "lost: \(missingCount)")
    return lines
  }

  private var missingCount: String {
    let count = saved.lostMessageCount
    return count == 0 ? "no known message" : "at least \(count.counted("message"))"
  }

  private static func name(_ kind: FactKind) -> String {
    switch kind {
    case .version: "earlier versions"
    case .reaction, .removedReaction, .emojiCount, .emojiRank: "reactions"
    case .attachment: "attachments"
    case .receipt: "receipts"
    case .tag: "tags"
    case .waiting, .waitingMark: "marks"
    case .ownField: "own fields"
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
