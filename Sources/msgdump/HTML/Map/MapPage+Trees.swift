import MsgStoreTools
import PageFile

/// The pages of each tree, and how full they are.
extension MapPage {
  private func name(of tree: TreeLayout) -> String { SchemaReport.treeName(tree.report.number) }

  /// The trees with the most pages first.
  private var trees: [TreeLayout] {
    layout.pages.trees.sorted {
      ($1.report.pageCount, $0.report.number) < ($0.report.pageCount, $1.report.number)
    }
  }

  func writeTrees(to writer: HTMLWriter) {
    let trees = trees
    let pageCount = trees.reduce(0) { $0 + $1.report.pageCount }
    guard let largest = trees.first, pageCount > 0 else {
      return writer.element("p", [:], "No tree has a page.")
    }
    writer.element(
      "p", ["class": "note"],
      "Branch, leaf, and overflow pages of each tree, in the data file or in the log.")
    writer.element("figure") {
      let first = trees.prefix(3).map {
        "\(name(of: $0)) \(Figures.percent($0.report.pageCount, of: pageCount))"
      }
      writer.bars(
        "Pages by tree: \(first.joined(separator: ", "))",
        trees.map { tree in
          HTMLBar(
            name: name(of: tree),
            share: Double(tree.report.pageCount) / Double(largest.report.pageCount),
            figure: Figures.grouped(tree.report.pageCount),
            style: SlotKind(tree: tree.report.number).style)
        })
    }
    writer.table(
      "Trees",
      [
        "tree", "pages", "share", "mean fill", "cells", "bytes", "depth", "leaves", "branches",
        "overflow", "unreadable",
      ],
      trees.map { tree in
        [
          name(of: tree), Figures.grouped(tree.report.pageCount),
          Figures.percent(tree.report.pageCount, of: pageCount),
          tree.meanFill.map(Figures.percent) ?? "-", Figures.grouped(tree.report.cellCount),
          Figures.grouped(tree.report.pageCount * file.pageByteCount),
          "\(tree.report.depth)", Figures.grouped(tree.leafCount),
          Figures.grouped(tree.branchCount), Figures.grouped(tree.overflowCount),
          Figures.grouped(tree.unreadableCount),
        ]
      })
  }

  func writeFills(to writer: HTMLWriter) {
    let trees = trees.filter { $0.meanFill != nil }
    guard !trees.isEmpty else { return writer.element("p", [:], "No page can be read.") }
    writer.element(
      "p", ["class": "note"],
      "Pages by their fill: the left column are pages that are less than a tenth full, the right "
        + "one those above nine tenths. Each tree is drawn to its own highest column.")
    writer.element("div", ["class": "cards"]) {
      for tree in trees { writeFill(of: tree, to: writer) }
    }
    writer.details("Fill as a table") {
      writer.table(
        "Pages by fill", ["tree"] + (0..<TreeLayout.fillPartCount).map(Self.fillRange),
        trees.map { [name(of: $0)] + $0.fillCounts.map(Figures.grouped) })
    }
  }

  private func writeFill(of tree: TreeLayout, to writer: HTMLWriter) {
    let mean = tree.meanFill.map(Figures.percent) ?? "-"
    let highest = max(1, tree.fillCounts.max() ?? 1)
    writer.element("figure") {
      writer.element("figcaption") {
        writer.text(name(of: tree))
        writer.element(
          "small", [:],
          "\(Figures.counted(tree.report.pageCount, "page")), mean fill \(mean)")
      }
      writer.columns(
        "Fill of the pages of \(name(of: tree)): mean \(mean)",
        style: SlotKind(tree: tree.report.number).style,
        tree.fillCounts.enumerated().map { part, count in
          (
            Double(count) / Double(highest),
            "\(Self.fillRange(part)): \(Figures.counted(count, "page"))"
          )
        })
      writer.element("div", ["class": "ends"]) {
        writer.element("span", [:], "empty")
        writer.element("span", [:], "full")
      }
    }
  }

  private static func fillRange(_ part: Int) -> String {
    let step = 100 / TreeLayout.fillPartCount
    return "\(part * step) to \((part + 1) * step)%"
  }
}
