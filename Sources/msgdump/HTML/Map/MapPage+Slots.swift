import MsgStoreTools
import PageFile

/// The map of the data file's slots, and the free ones among them.
extension MapPage {
  /// The number of parts of the file in the tables.
  private static let partCount = 20

  func writeSlots(to writer: HTMLWriter) {
    let pages = layout.pages
    guard file.slotCount > 0 else {
      return writer.element("p", [:], "The data file has no slots yet.")
    }
    let grid = SlotGrid(slotCount: file.slotCount, pages.slots)
    let size =
      grid.slotsPerCell == 1
      ? "Each cell is a slot"
      : "Each cell stands for \(Figures.counted(grid.slotsPerCell, "slot")) and has the colour of "
        + "the most common kind"
    writer.element(
      "p", ["class": "note"],
      "All slots of the data file in their order, row by row. \(size); the fuller its pages, the "
        + "stronger its colour. A cell with an unreadable page shows that.")
    let kinds = kindRows
    writer.element("figure") {
      writeGrid(grid, kinds, to: writer)
      writeLegend(kinds, to: writer)
    }
    writer.table(
      "Slots by kind", ["kind", "slots", "share", "mean fill"],
      kinds.map { row in
        [
          row.kind.name, Figures.grouped(row.count),
          Figures.percent(row.count, of: file.slotCount),
          row.meanFill.map(Figures.percent) ?? "-",
        ]
      })
    writer.details("The map as a table") {
      writer.table(
        "Parts of the data file",
        ["slots", "most common", "mean fill", "free", "unreadable"],
        parts.map { cell in
          [
            "\(Figures.grouped(cell.slots.lowerBound)) to "
              + Figures.grouped(cell.slots.upperBound),
            cell.kind.name, cell.meanFill.map(Figures.percent) ?? "-",
            Figures.grouped(cell.freeCount), Figures.grouped(cell.unreadableCount),
          ]
        })
    }
  }

  /// The file in a few parts of the same size.
  private var parts: [SlotGrid.Cell] {
    let size = (file.slotCount + Self.partCount - 1) / Self.partCount
    return SlotGrid(slotCount: file.slotCount, layout.pages.slots, slotsPerCell: size).cells
  }

  private typealias KindRow = (kind: SlotKind, count: Int, meanFill: Double?)

  /// The kinds of slots that occur.
  private var kindRows: [KindRow] {
    var counts = [Int](repeating: 0, count: SlotKind.allCases.count)
    var fills = [Double](repeating: 0, count: SlotKind.allCases.count)
    for state in layout.pages.slots {
      let kind = SlotKind(state).rawValue
      counts[kind] += 1
      fills[kind] += state.fill
    }
    counts[SlotKind.free.rawValue] = file.freeSlotCount
    return SlotKind.allCases.filter { counts[$0.rawValue] > 0 }.map { kind in
      let count = counts[kind.rawValue]
      return (kind, count, kind.hasFill ? fills[kind.rawValue] / Double(count) : nil)
    }
  }

  private func writeGrid(_ grid: SlotGrid, _ kinds: [KindRow], to writer: HTMLWriter) {
    let columnCount = grid.cells.count > 800 ? 80 : grid.cells.count > 200 ? 40 : 20
    let rowCount = (grid.cells.count + columnCount - 1) / columnCount
    let shares = kinds.sorted { $0.count > $1.count }.prefix(4).map {
      "\($0.kind.name) \(Figures.percent($0.count, of: file.slotCount))"
    }
    writer.element(
      "svg",
      [
        "class": "map", "viewBox": "0 0 \(columnCount) \(rowCount)", "role": "img",
        "aria-label": "Map of \(Figures.counted(file.slotCount, "slot")) in their order: "
          + shares.joined(separator: ", "),
      ]
    ) {
      writePatterns(to: writer)
      for run in grid.runs(columnCount: columnCount) {
        let shade = run.cell.shade.map { " s\($0)" } ?? ""
        writer.element(
          "rect",
          [
            "class": "\(run.cell.kind.style)\(shade)", "x": "\(run.column)", "y": "\(run.row)",
            "width": "\(run.cellCount - 1).9", "height": ".9",
          ]
        ) {
          writer.element("title", [:], Self.title(of: run.cell))
        }
      }
    }
  }

  private static func title(of cell: SlotGrid.Cell) -> String {
    let slots =
      cell.slots.count == 1
      ? "slot \(cell.slots.lowerBound)"
      : "slots \(cell.slots.lowerBound) to \(cell.slots.upperBound)"
    let fill =
      cell.kind.hasFill ? cell.meanFill.map { ", \(Figures.percent($0)) full" } ?? "" : ""
    return "\(slots): \(cell.kind.name)\(fill)"
  }

  /// Writes the hatchings of the kinds that are no leaves, so that they differ by more than colour.
  private func writePatterns(to writer: HTMLWriter) {
    let paths = [
      ("hatch-branch", "M0 .25H.5"), ("hatch-overflow", "M.25 0V.5"),
      ("hatch-freed", "M0 .5L.5 0"), ("hatch-unreached", "M0 .5L.5 0M0 0L.5 .5"),
      ("hatch-unreadable", "M0 0L.5 .5M0 .5L.5 0"),
    ]
    writer.element("defs") {
      for (id, path) in paths {
        writer.element(
          "pattern",
          ["id": id, "width": ".5", "height": ".5", "patternUnits": "userSpaceOnUse"]
        ) {
          writer.empty("rect", ["width": ".5", "height": ".5", "class": "\(id)-ground"])
          writer.empty("path", ["d": path, "class": "\(id)-line"])
        }
      }
    }
  }

  private func writeLegend(_ kinds: [KindRow], to writer: HTMLWriter) {
    writer.element("ul", ["class": "legend", "aria-label": "Kinds of slots"]) {
      for row in kinds {
        writer.element("li") {
          writeSwatch("\(row.kind.style) s3", to: writer)
          writer.text(row.kind.name)
        }
      }
    }
    writer.element("ul", ["class": "legend", "aria-label": "Strength of the colours"]) {
      for (shade, text) in ["under 25% full", "to 50%", "to 75%", "above 75%"].enumerated() {
        writer.element("li") {
          writeSwatch("\(SlotKind.messages.style) s\(shade)", to: writer)
          writer.text(text)
        }
      }
    }
  }

  private func writeSwatch(_ style: String, to writer: HTMLWriter) {
    writer.element("svg", ["class": "swatch", "viewBox": "0 0 1 1", "aria-hidden": "true"]) {
      writer.empty("rect", ["class": style, "width": "1", "height": "1"])
    }
  }

  // MARK: Free slots

  func writeFreeSlots(to writer: HTMLWriter) {
    let free = FreeSlots(slotCount: file.slotCount, layout.pages.slots)
    guard let longest = free.longestRun else {
      return writer.element("p", [:], "No slot is free.")
    }
    let byteCount = Figures.bytes(free.count * file.pageByteCount)
    let first = Figures.grouped(longest.lowerBound)
    var sentences = [
      "\(Figures.counted(free.count, "free slot")) of \(Figures.grouped(file.slotCount)), which is "
        + "\(byteCount), in \(Figures.counted(free.runCount, "run")).",
      "The longest run has \(Figures.counted(longest.count, "slot")), from slot \(first) on.",
    ]
    let freed = layout.pages.slots.count { $0.use == .freed }
    if freed > 0 {
      sentences.append(
        "The log frees \(Figures.counted(freed, "slot")) more, at the next checkpoint.")
    }
    writer.element("p", [:], sentences.joined(separator: " "))
    let parts = parts
    let fullest = parts.max { $0.freeCount < $1.freeCount }
    writer.element("figure") {
      writer.element("figcaption", [:], "Free share of each part of the file, from none to all")
      writer.columns(
        "Free slots by their place in the file; the most are in slots "
          + "\(fullest?.slots.lowerBound ?? 0) to \(fullest?.slots.upperBound ?? 0)",
        style: "plain",
        parts.map { part in
          let share = Double(part.freeCount) / Double(part.slots.count)
          return (
            share,
            "slots \(part.slots.lowerBound) to \(part.slots.upperBound): \(part.freeCount) free, "
              + Figures.percent(share)
          )
        })
      writer.element("div", ["class": "ends"]) {
        writer.element("span", [:], "beginning of the file")
        writer.element("span", [:], "end")
      }
    }
    writer.details("Free slots as a table") {
      writer.table(
        "Free slots by place", ["slots", "free", "share"],
        parts.map { part in
          [
            "\(Figures.grouped(part.slots.lowerBound)) to "
              + Figures.grouped(part.slots.upperBound),
            Figures.grouped(part.freeCount),
            Figures.percent(part.freeCount, of: part.slots.count),
          ]
        })
    }
  }
}
