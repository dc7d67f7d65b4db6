/// A table of text columns, the first aligned left and all others right.
package struct TextTable {
  private var rows: [[String]]

  package init(header: [String]) {
    rows = [header]
  }

  package mutating func add(_ row: [String]) {
    rows.append(row)
  }

  package var text: String {
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      let cells = zip(row, widths).enumerated().map { column, cell in
        let space = String(repeating: " ", count: cell.1 - cell.0.count)
        return column == 0 ? cell.0 + space : space + cell.0
      }
      var line = cells.joined(separator: "  ")
      while line.hasSuffix(" ") { line.removeLast() }
      return line + "\n"
    }.joined()
  }
}

package enum Number {
  /// Formats a number with `digits` digits after the point, rounded half away from zero.
  package static func text(_ value: Double, digits: Int) -> String {
    let scale = (0..<digits).reduce(1) { scale, _ in scale * 10 }
    let scaled = Int64((value * Double(scale)).rounded())
    guard digits > 0 else { return String(scaled) }
    let fraction = String(scaled.magnitude % UInt64(scale))
    let sign = scaled < 0 ? "-" : ""
    let zeroes = String(repeating: "0", count: digits - fraction.count)
    return "\(sign)\(scaled.magnitude / UInt64(scale)).\(zeroes)\(fraction)"
  }

  /// Formats nanoseconds in a suitable unit.
  package static func duration(_ nanoseconds: Double) -> String {
    if nanoseconds < 1_000 { return text(nanoseconds, digits: 0) + " ns" }
    if nanoseconds < 1_000_000 { return text(nanoseconds / 1_000, digits: 2) + " µs" }
    return text(nanoseconds / 1_000_000, digits: 2) + " ms"
  }

  /// Formats a power of ten of nanoseconds, without meaningless digits.
  package static func roundDuration(_ nanoseconds: Double) -> String {
    if nanoseconds < 1_000 { return text(nanoseconds, digits: 0) + " ns" }
    if nanoseconds < 1_000_000 { return text(nanoseconds / 1_000, digits: 0) + " µs" }
    if nanoseconds < 1e9 { return text(nanoseconds / 1_000_000, digits: 0) + " ms" }
    return text(nanoseconds / 1e9, digits: 0) + " s"
  }

  /// Formats a number with commas between thousands.
  package static func grouped(_ number: Int) -> String {
    let digits = String(number.magnitude)
    var grouped = number < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index) % 3 == 0 { grouped += "," }
      grouped.append(digit)
    }
    return grouped
  }
}
