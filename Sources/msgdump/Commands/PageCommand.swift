import ArgumentParser
import MsgStore
import MsgStoreTools
import PageFile

/// Shows one page with its cells.
struct PageCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "page",
    abstract: "Shows one page: its header, its cells, their keys, and their records.",
    discussion: "A star marks a value in an overflow chain, whose record is not shown.")

  @OptionGroup var storeArgument: StoreArgument
  @OptionGroup var options: ReportOptions

  @Argument(help: "The number of the page.")
  var number: UInt32

  @Flag(help: "Show the bytes of each value instead of its record.")
  var bytes = false

  func run() throws {
    let inspector = try storeArgument.inspect()
    guard try inspector.hasPage(PageNumber(number)) else {
      throw ToolError.failure("page \(number): not in use; see pages")
    }
    let (page, cells) = try inspector.page(PageNumber(number))
    let report = options.begin()
    try PageTable(report, name: "page").add(page)
    try report.line("")
    let rows = try report.table(
      "cells", .number("cell", 5), .number("child", 10), .number("value bytes", 12),
      .text("", 1, key: "overflow"), .text("key", 40), .text("record", 40))
    for cell in cells {
      let isLeaf = cell.child == nil
      try rows.add([
        .number(cell.index), cell.child.map { .number(Int($0.rawValue)) } ?? .empty,
        isLeaf ? .number(cell.valueByteCount) : .empty,
        report.isJSON ? .flag(cell.overflow) : .text(cell.overflow ? "*" : ""),
        .text(Self.describe(cell.key, tree: page.tree)),
        isLeaf ? .text(record(cell, page)) : .empty,
      ])
    }
    try report.flush()
  }

  private func record(_ cell: CellReport, _ page: PageReport) -> String {
    guard let tree = page.tree, !bytes else { return cell.value.hexadecimal }
    return RecordReport.describe(cell.key, cell.value, tree: tree)
  }

  /// Returns the key in the words of its tree.
  ///
  /// The first key of a branch page is empty: it stands for everything before the second.
  static func describe(_ key: [UInt8], tree: Int?) -> String {
    guard let tree, !key.isEmpty else { return key.isEmpty ? "-" : "\(key)" }
    return SchemaReport.describeKey(key, tree: tree)
  }
}
