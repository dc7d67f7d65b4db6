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

  func run() throws {
    let output = Output()
    let table = PageTable()
    try output.line(table.header)
    // The walk cannot be stopped from within, so an output error is kept until it is over.
    var failure: ToolError?
    try storeArgument.inspect().pages { page in
      guard failure == nil else { return }
      do throws(ToolError) {
        try output.line(table.row(page))
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    try output.flush()
  }
}

/// The columns that describe a page.
struct PageTable {
  private let table = TextTable(
    .right("page", 10), .right("slot", 10), .left("kind", 9), .left("tree", 18),
    .right("level", 5), .right("cells", 6), .right("fill", 6), .right("LSN", 12))

  var header: String { table.header }

  func row(_ page: PageReport) -> String {
    table.row([
      "\(page.number)", "\(page.slot)", page.kind, page.tree.map(SchemaReport.treeName) ?? "-",
      "\(page.level)", "\(page.cellCount)", percent(page.fill), "\(page.lsn)",
    ])
  }

  private func percent(_ fill: Double) -> String {
    let tenths = Int((max(0, min(1, fill)) * 1000).rounded())
    return "\(tenths / 10).\(tenths % 10)%"
  }
}
