import PageFile

/// The two WAL files and their commits.
extension MapPage {
  func writeLog(to writer: HTMLWriter) {
    writer.element(
      "p", ["class": "note"],
      "The commits that a scan of each WAL file finds. Those up to the checkpoint LSN are in the "
        + "data file already.")
    writer.table(
      "WAL files",
      ["file", "bytes", "commits", "bytes of commits", "first LSN", "last LSN", "scan ends"],
      file.walByteCounts.indices.map(row))
    let sizes = log.commits.map(\.byteCount).sorted()
    guard let least = sizes.first, let most = sizes.last else {
      return writer.element("p", [:], "The log has no commits.")
    }
    let median = Figures.grouped(sizes[(sizes.count - 1) / 2])
    let mean = Figures.tenths(Double(sizes.reduce(0, +)) / Double(sizes.count))
    writer.element(
      "p", [:],
      sizes.count == 1
        ? "One commit of \(Figures.counted(least, "byte"))."
        : "\(Figures.counted(sizes.count, "commit")) of \(Figures.grouped(least)) to "
          + "\(Figures.counted(most, "byte")): half of them up to \(median) bytes, "
          + "\(mean) bytes on average.")
    writeSizes(sizes, to: writer)
  }

  private func row(_ index: Int) -> [String] {
    let suffix = "-wal\(index)"
    let commits = log.commits.filter { $0.file.hasSuffix(suffix) }
    let stop = log.stops.first { $0.file.hasSuffix(suffix) }
    let end = commits.last.map { $0.offset + $0.byteCount }
    return [
      stop?.file ?? "WAL file \(index)", Figures.grouped(file.walByteCounts[index]),
      Figures.grouped(commits.count),
      Figures.grouped(commits.reduce(0) { $0 + $1.byteCount }),
      commits.first.map { "\($0.lsn)" } ?? "-", commits.last.map { "\($0.lsn)" } ?? "-",
      (end.map { "at byte \(Figures.grouped($0)): " } ?? "") + (stop?.reason ?? "-"),
    ]
  }

  /// Writes how many commits are of which size, by powers of two.
  private func writeSizes(_ sizes: [Int], to writer: HTMLWriter) {
    var counts: [Int: Int] = [:]
    for size in sizes { counts[Self.power(size), default: 0] += 1 }
    guard let low = counts.keys.min(), let high = counts.keys.max() else { return }
    let bars = (low...high).map { power in
      // The name of a bar is short enough for a phone.
      (
        name: "from \(Figures.grouped(Self.size(power)))", range: Self.range(power),
        count: counts[power] ?? 0
      )
    }
    let highest = bars.map(\.count).max() ?? 1
    let common = bars.first { $0.count == highest }
    writer.element("figure") {
      writer.element("figcaption", [:], "Commits by size in bytes")
      writer.bars(
        "Commits by size; the most common size is \(common?.range ?? "-") bytes",
        bars.map { bar in
          HTMLBar(
            name: bar.name, share: Double(bar.count) / Double(max(1, highest)),
            figure: Figures.grouped(bar.count))
        })
    }
    writer.details("Commits as a table") {
      writer.table(
        "Commits by size", ["bytes", "commits", "share"],
        bars.map {
          [$0.range, Figures.grouped($0.count), Figures.percent($0.count, of: sizes.count)]
        }
      )
    }
  }

  /// Returns the power of two at or below a size.
  private static func power(_ size: Int) -> Int {
    size <= 1 ? 0 : Int.bitWidth - 1 - size.leadingZeroBitCount
  }

  private static func size(_ power: Int) -> Int { 1 << min(power, 61) }

  private static func range(_ power: Int) -> String {
    let first = size(power)
    return "\(Figures.grouped(first)) to \(Figures.grouped(first * 2 - 1))"
  }
}
