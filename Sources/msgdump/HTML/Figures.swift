/// Numbers as a page shows them.
package enum Figures {
  /// Returns a number with a comma between each three digits: `1,234,567`.
  package static func grouped(_ number: Int) -> String {
    let digits = Array(String(number.magnitude))
    var text = number < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index) % 3 == 0 { text += "," }
      text.append(digit)
    }
    return text
  }

  /// Returns a count with its noun in agreement: `1 page`, `1,200 pages`.
  package static func counted(_ number: Int, _ thing: String, _ things: String? = nil) -> String {
    "\(grouped(number)) \(number == 1 ? thing : things ?? thing + "s")"
  }

  /// Returns a byte count in a unit that leaves one to four digits: `734 bytes`, `12.4 MB`.
  package static func bytes(_ byteCount: Int) -> String {
    guard byteCount >= 1000 else { return counted(byteCount, "byte") }
    var value = Double(byteCount)
    var unit = ""
    for name in ["kB", "MB", "GB", "TB"] where value >= 999.5 || unit.isEmpty {
      value /= 1000
      unit = name
    }
    return "\(value < 99.95 ? tenths(value) : grouped(Int(value.rounded()))) \(unit)"
  }

  /// Returns a share in percent: `0%`, `0.4%`, `12%`.
  ///
  /// A share that is not zero never reads as zero, nor one that is not the whole as the whole.
  package static func percent(_ share: Double) -> String {
    let percent = max(0, min(1, share)) * 100
    if percent == 0 { return "0%" }
    if percent < 0.05 { return "under 0.1%" }
    if percent >= 99.95, percent < 100 { return "over 99.9%" }
    let isPlain = percent >= 9.95 && percent < 99.5 || percent == 100
    return (isPlain ? "\(Int(percent.rounded()))" : tenths(percent)) + "%"
  }

  /// Returns one number as a share of another in percent.
  package static func percent(_ part: Int, of whole: Int) -> String {
    whole <= 0 ? "-" : percent(Double(part) / Double(whole))
  }

  /// Returns a number with one digit behind the point, or with none if that is zero.
  package static func tenths(_ value: Double) -> String {
    guard value.isFinite, abs(value) < 1e15 else { return "-" }
    let tenths = Int((value * 10).rounded())
    let rest = abs(tenths % 10)
    return grouped(tenths / 10) + (rest == 0 ? "" : ".\(rest)")
  }

  /// Returns a share as the length of a bar in a drawing.
  static func length(_ share: Double) -> String {
    let hundredths = Int((max(0, min(1, share)) * 10_000).rounded())
    let rest = hundredths % 100
    return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)%"
  }
}
