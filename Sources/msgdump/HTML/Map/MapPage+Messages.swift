import MsgStoreTools

/// The messages: whose they are, and how they are packed.
extension MapPage {
  func writeConversations(to writer: HTMLWriter) {
    let sizes = layout.conversations
    guard let largest = sizes.largest.first else {
      return writer.element("p", [:], "The store has no messages.")
    }
    let listedMessages = sizes.largest.reduce(0) { $0 + $1.messageCount }
    let listedBytes = sizes.largest.reduce(0) { $0 + $1.byteCount }
    var rows = sizes.largest.map { size in
      (
        name: names[size.number] ?? "number \(size.number)", messages: size.messageCount,
        bytes: size.byteCount
      )
    }
    let bars = rows.map { row in
      HTMLBar(
        name: row.name, share: Double(row.bytes) / Double(max(1, largest.byteCount)),
        figure: Figures.bytes(row.bytes), style: SlotKind.messages.style)
    }
    if sizes.count > sizes.largest.count {
      rows.append(
        (
          "\(Figures.grouped(sizes.count - sizes.largest.count)) others",
          sizes.messageCount - listedMessages, sizes.byteCount - listedBytes
        ))
    }
    writer.element(
      "p", ["class": "note"],
      "The bytes that the messages of a conversation take in the messages tree. Ids and facts, "
        + "which lie in other trees, are not counted.")
    writer.element("figure") {
      writer.bars(
        "The largest conversations by bytes; the largest has "
          + Figures.counted(largest.messageCount, "message"),
        bars)
    }
    writer.table(
      "Conversations by size",
      ["conversation", "messages", "bytes", "share", "bytes a message"],
      rows.map { row in
        [
          row.name, Figures.grouped(row.messages), Figures.grouped(row.bytes),
          Figures.percent(row.bytes, of: sizes.byteCount),
          Figures.tenths(Double(row.bytes) / Double(max(1, row.messages))),
        ]
      })
  }

  func writePacking(to writer: HTMLWriter) {
    let packing = layout.packing
    let segments = packing.segments
    let all = segments.messageCount + packing.loose.messageCount
    guard all > 0 else { return writer.element("p", [:], "The store has no messages.") }
    writer.element(
      "p", [:],
      "\(Figures.percent(segments.messageCount, of: all)) of the messages lie in "
        + "\(Figures.counted(segments.cellCount, "segment")), the others in cells of their own."
        + (segments.unpackedByteCount == 0
          ? ""
          : " Segments take \(Figures.percent(segments.byteCount, of: segments.unpackedByteCount)) "
            + "of the bytes of the texts and rare fields in them, with the times, names, and "
            + "senders of their messages."))
    let rows = packingRows
    writer.element("figure") {
      writer.bars(
        "Messages by packing: "
          + rows.prefix(3).map {
            "\($0.name) \(Figures.percent($0.tally.messageCount, of: all))"
          }.joined(separator: ", "),
        rows.map { row in
          HTMLBar(
            name: row.name, share: Double(row.tally.messageCount) / Double(all),
            figure: Figures.grouped(row.tally.messageCount), style: SlotKind.messages.style)
        })
    }
    writer.table(
      "Packing of messages",
      ["form", "messages", "share", "segments", "bytes", "bytes unpacked", "ratio"],
      rows.map { row in
        let tally = row.tally
        return [
          row.name, Figures.grouped(tally.messageCount),
          Figures.percent(tally.messageCount, of: all),
          row.isSegment ? Figures.grouped(tally.cellCount) : "-",
          Figures.grouped(tally.byteCount),
          row.isSegment ? Figures.grouped(tally.unpackedByteCount) : "-",
          row.isSegment ? Figures.percent(tally.byteCount, of: tally.unpackedByteCount) : "-",
        ]
      })
  }

  private var packingRows: [(name: String, tally: PackingTally, isSegment: Bool)] {
    let packing = layout.packing
    var rows: [(name: String, tally: PackingTally, isSegment: Bool)] = [
      ("segments, plain", packing.plain, true)
    ]
    for (number, tally) in packing.dictionaries.sorted(by: { $0.key < $1.key }) {
      rows.append((number == 0 ? "LZ4" : "LZ4, dictionary \(number)", tally, true))
    }
    rows.append(("LZ4, other dictionaries", packing.otherDictionaries, true))
    rows.append(("beside segments", packing.loose, false))
    return rows.filter { $0.tally.cellCount > 0 }
  }
}
