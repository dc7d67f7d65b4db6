package import MsgStoreTools
package import PageFile

/// A page with pictures of a store's files.
///
/// Every picture has its figures in a table too, and every colour a name.
package struct MapPage {
  /// The most characters of a name in a picture or a table.
  private static let nameWidth = 60

  let name: String
  let layout: LayoutReport
  let log: WALReport
  /// The ids and titles of the largest conversations, as far as they can be read.
  let names: [UInt32: String]

  /// Creates a page.
  ///
  /// - Parameters:
  ///   - name: The name of the store's data file.
  ///   - names: The names of conversations by their numbers.
  package init(name: String, layout: LayoutReport, log: WALReport, names: [UInt32: String]) {
    self.name = name
    self.layout = layout
    self.log = log
    self.names = names.mapValues { $0.shortened(to: Self.nameWidth) }
  }

  var file: FileReport { layout.pages.file }
  var storeByteCount: Int { file.dataFileByteCount + file.walByteCounts.reduce(0, +) }
  var messageCount: Int { layout.conversations.messageCount }
  var unreadableCount: Int {
    (layout.pages.slots + layout.pages.logged).count { $0.use == .unreadable }
  }

  /// Writes the page.
  package func write(to writer: HTMLWriter) {
    let sections: [(id: String, title: String, write: (HTMLWriter) -> Void)] = [
      ("slots", "Slots", writeSlots), ("trees", "Pages by tree", writeTrees),
      ("fill", "Fill by tree", writeFills), ("free", "Free slots", writeFreeSlots),
      ("log", "Log", writeLog), ("conversations", "Conversations by size", writeConversations),
      ("packing", "Packing", writePacking),
    ]
    writer.page(
      title: "Map of \(name)",
      style: [PageStyle.base, PageStyle.pictures, Self.style].joined(separator: "\n")
    ) {
      writer.element("header") {
        writer.element("h1") {
          writer.text("Map of ")
          writer.isolated(name)
        }
        writer.element(
          "p", ["class": "note"],
          "Format \(file.formatVersion), store \(file.storeID), generation \(file.generation), "
            + "as of LSN \(file.lastLSN).")
        writer.element("nav", ["aria-label": "Sections"]) {
          writer.element("ul") {
            for section in sections {
              writer.element("li") {
                writer.element("a", ["href": "#\(section.id)"], section.title)
              }
            }
          }
        }
      }
      writer.element("main") {
        writer.section("summary", "Summary") { writeSummary(to: writer) }
        for section in sections {
          writer.section(section.id, section.title) { section.write(writer) }
        }
      }
    }
  }

  // MARK: Summary

  private func writeSummary(to writer: HTMLWriter) {
    for sentence in summary { writer.element("p", [:], sentence) }
    writer.element("dl", ["class": "figures"]) {
      let figures = [
        ("store", Figures.bytes(storeByteCount)), ("messages", Figures.grouped(messageCount)),
        ("conversations", Figures.grouped(layout.conversations.count)),
        ("bytes a message", bytesPerMessage.map(Figures.tenths) ?? "-"),
        ("free space", Figures.bytes(file.freeSlotCount * file.pageByteCount)),
        ("closed cleanly", file.isClean ? "yes" : "no"),
      ]
      for (name, figure) in figures {
        writer.element("div") {
          writer.element("dt", [:], name)
          writer.element("dd", [:], figure)
        }
      }
    }
    writer.details("Exact figures") {
      writer.table("The files", ["figure", "value"], fileRows)
    }
  }

  private var bytesPerMessage: Double? {
    messageCount == 0 ? nil : Double(file.dataFileByteCount) / Double(messageCount)
  }

  /// The state of the store in sentences.
  private var summary: [String] {
    var sentences = [
      "The store takes \(Figures.bytes(storeByteCount)): a data file of "
        + "\(Figures.bytes(file.dataFileByteCount)) and a log of "
        + "\(Figures.bytes(file.walByteCounts.reduce(0, +))).",
      "It has \(Figures.counted(messageCount, "message")) in "
        + Figures.counted(layout.conversations.count, "conversation")
        + (bytesPerMessage.map {
          ", which is \(Figures.tenths($0)) bytes of the data file for each message."
        } ?? "."),
      "\(Figures.grouped(file.freeSlotCount)) of "
        + "\(Figures.counted(file.slotCount, "slot")) are free "
        + "(\(Figures.percent(file.freeSlotCount, of: file.slotCount))).",
      file.isClean
        ? "It was closed cleanly." : "It is open, or was not closed cleanly: the log is in use.",
    ]
    if unreadableCount > 0 {
      sentences.append(
        "\(Figures.counted(unreadableCount, "page")) cannot be read, and no message there is "
          + "counted; msgdump check tells more.")
    }
    if layout.pages.unreadableTableCount > 0 {
      sentences.append(
        "\(Figures.counted(layout.pages.unreadableTableCount, "page")) of the page table cannot be "
          + "read: slots that look free may hold pages.")
    }
    return sentences
  }

  private var fileRows: [[String]] {
    var rows = [
      ["page size", "\(Figures.grouped(file.pageByteCount)) bytes"],
      ["data file", "\(Figures.grouped(file.dataFileByteCount)) bytes"],
    ]
    for (index, byteCount) in file.walByteCounts.enumerated() {
      rows.append(["WAL file \(index)", "\(Figures.grouped(byteCount)) bytes"])
    }
    rows += [
      ["slots", Figures.grouped(file.slotCount)],
      ["free slots", Figures.grouped(file.freeSlotCount)],
      ["pages", Figures.grouped(file.pageCount)],
      ["pages only in the log", Figures.grouped(layout.pages.logged.count)],
      ["checkpoint LSN", "\(file.checkpointLSN)"], ["last LSN", "\(file.lastLSN)"],
    ]
    return rows
  }
}
