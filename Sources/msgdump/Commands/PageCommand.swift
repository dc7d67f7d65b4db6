import ArgumentParser
import MsgStore
import MsgStoreTools
import PageFile

/// Shows one page with its cells.
struct PageCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "page",
    abstract: "Shows one page: its header, its cells, and their keys.")

  @OptionGroup var storeArgument: StoreArgument

  @Argument(help: "The number of the page.")
  var number: UInt32

  func run() throws {
    let inspector = try storeArgument.inspect()
    guard try inspector.hasPage(PageNumber(number)) else {
      throw ToolError.failure("page \(number): not in use; see pages")
    }
    let (page, cells) = try inspector.page(PageNumber(number))
    let output = Output()
    let pageTable = PageTable()
    try output.line(pageTable.header)
    try output.line(pageTable.row(page))
    let table = TextTable(
      .right("cell", 5), .right("child", 10), .right("value bytes", 12), .left("key", 0))
    try output.line("")
    try output.line(table.header)
    for cell in cells {
      try output.line(
        table.row([
          "\(cell.index)", cell.child.map { "\($0)" } ?? "", Self.value(of: cell),
          Self.describe(cell, tree: page.tree),
        ]))
    }
    try output.flush()
  }

  /// Returns the length of the value; a star marks a value in an overflow chain.
  private static func value(of cell: CellReport) -> String {
    guard cell.child == nil else { return "" }
    return "\(cell.valueByteCount)\(cell.overflow ? " *" : "")"
  }

  /// Returns the key in the words of its tree, followed by the description of a segment value.
  private static func describe(_ cell: CellReport, tree: Int?) -> String {
    let value = SegmentReport.describe(cell.valueHead, tree: tree ?? -1)
    return describe(cell.key, tree: tree) + (value.isEmpty ? "" : ": \(value)")
  }

  /// Returns the key in the words of its tree.
  ///
  /// The first key of a branch page is empty: it stands for everything before the second.
  static func describe(_ key: [UInt8], tree: Int?) -> String {
    guard let tree, !key.isEmpty else { return key.isEmpty ? "-" : "\(key)" }
    return SchemaReport.describeKey(key, tree: tree).visible
  }
}
