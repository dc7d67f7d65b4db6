import ArgumentParser
import MsgStore
import MsgStoreTools
import PageFile

/// Draws the trees as outlines: each page is indented below the one that refers to it.
struct TreeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tree",
    abstract: "Draws a tree, or all of them, as an outline of pages.")

  /// The largest depth of any tree; see docs/page-file-format.md.
  private static let maximumDepth = 32

  @OptionGroup var storeArgument: StoreArgument

  @Argument(help: "The number or the name of a tree (default: all).")
  var tree: String?

  func run() throws {
    let inspector = try storeArgument.inspect()
    let trees = try inspector.file().trees.filter { found in
      guard let tree else { return true }
      return tree == "\(found.number)" || tree == SchemaReport.treeName(found.number)
    }
    if let tree, trees.isEmpty { throw ToolError.failure("there is no tree \"\(tree)\"") }
    let output = Output()
    for tree in trees {
      try output.line(
        "\(tree.number) \(SchemaReport.treeName(tree.number)): \(tree.cellCount.counted("cell")) "
          + "in \(tree.pageCount.counted("page")), depth \(tree.depth)")
      guard tree.root != .none else { continue }
      try draw(tree.root, of: tree.number, key: [], depth: 1, inspector, output)
    }
    try output.flush()
  }

  private func draw(
    _ number: PageNumber, of tree: Int, key: [UInt8], depth: Int, _ inspector: Inspector,
    _ output: Output
  ) throws {
    guard depth <= Self.maximumDepth else {
      throw ToolError.failure("tree \(tree) is deeper than \(Self.maximumDepth) pages")
    }
    let (page, cells) = try inspector.page(number)
    let indent = String(repeating: "  ", count: depth)
    // The first page of a level has no first key.
    let begin = key.isEmpty ? "" : ", from \(PageCommand.describe(key, tree: tree).visible)"
    try output.line("\(indent)\(page.kind) \(number): \(cells.count.counted("cell"))\(begin)")
    for cell in cells {
      guard let child = cell.child else { continue }
      try draw(child, of: tree, key: cell.key, depth: depth + 1, inspector, output)
    }
  }
}
