import ArgumentParser
import MsgStore
import MsgStoreTools
import PageFile

/// Lists every page of the store, one per line.
struct PagesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pages",
    abstract: "Lists the pages: number, slot, kind, tree, cells, fill, and last change.")

  @OptionGroup var storeArgument: StoreArgument
  @OptionGroup var options: ReportOptions

  func run() throws {
    let report = options.begin()
    let table = try PageTable(report)
    // The walk cannot be stopped from within, so an output error is kept until it is over.
    var failure: ToolError?
    try storeArgument.inspect().pages { page in
      guard failure == nil else { return }
      do throws(ToolError) {
        try table.add(page)
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    try report.flush()
  }
}

/// The table that describes pages.
struct PageTable {
  private let rows: Report.Rows

  init(_ report: Report, name: String? = nil) throws(ToolError) {
    rows = try report.table(
      name, .number("page", 10), .number("slot", 10), .text("kind", 10), .text("tree", 18),
      .number("level", 5), .number("cells", 6), .number("fill", 6), .number("LSN", 12))
  }

  func add(_ page: PageReport) throws(ToolError) {
    try rows.add(
      [
        .number(Int(page.number.rawValue)), .number(Int(page.slot)), .text(page.kind),
        .text(page.tree.map(SchemaReport.treeName)), .number(page.level), .number(page.cellCount),
        .share(page.fill), .count(page.lsn.rawValue),
      ], page.kind == "unreadable" ? .red : .plain)
  }
}
