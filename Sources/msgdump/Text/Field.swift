package import MsgStore
import MsgStoreTools

/// A value in a report, which is printed as text or as JSON.
package enum Field {
  /// There is no value: a dash in a text, null in JSON.
  case none
  /// There can be no value: nothing in a text, null in JSON.
  case empty
  /// Text that may come from other people; it is made safe for a terminal.
  case text(String)
  case number(Int64)
  /// A number that may exceed 63 bits.
  case count(UInt64)
  /// A part of a whole, 0 to 1.
  case share(Double)
  case time(Timestamp)
  case flag(Bool)
  case array([Field])

  package static func number(_ value: Int) -> Field { .number(Int64(value)) }

  package static func list(_ texts: [String]) -> Field { .array(texts.map { .text($0) }) }

  /// Ranges as pairs of numbers; the second is the end, which is not part of the range.
  static func ranges(_ ranges: [Range<Int>]) -> Field {
    .array(ranges.map { .array([.number($0.lowerBound), .number($0.upperBound)]) })
  }

  static func text(_ value: (some CustomStringConvertible)?) -> Field {
    value.map { .text("\($0)") } ?? .none
  }

  /// Returns the value as text in one line.
  func text(_ times: TimeFormat) -> String {
    switch self {
    case .none: "-"
    case .empty: ""
    case .text(let text): text.visible
    case .number(let number): "\(number)"
    case .count(let number): "\(number)"
    case .share(let share): Self.percent(share)
    case .time(let time): times.text(time)
    case .flag(let isSet): isSet ? "yes" : "no"
    case .array(let fields): fields.map { $0.text(times) }.joined(separator: ", ")
    }
  }

  /// Appends the value as JSON.
  ///
  /// Times are in UTC, whatever the format of times in texts.
  func appendJSON(to bytes: inout [UInt8]) {
    switch self {
    case .none, .empty: bytes.append(contentsOf: "null".utf8)
    case .text(let text): JSONLineWriter.append(text, to: &bytes)
    case .number(let number): bytes.append(contentsOf: "\(number)".utf8)
    case .count(let number): bytes.append(contentsOf: "\(number)".utf8)
    case .share(let share): bytes.append(contentsOf: Self.decimal(share).utf8)
    case .time(let time): JSONLineWriter.append(time.description, to: &bytes)
    case .flag(let isSet): bytes.append(contentsOf: (isSet ? "true" : "false").utf8)
    case .array(let fields):
      bytes.append(UInt8(ascii: "["))
      for (index, field) in fields.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        field.appendJSON(to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    }
  }

  private static func thousandths(_ share: Double) -> Int {
    Int((max(0, min(1, share.isNaN ? 0 : share)) * 1000).rounded())
  }

  private static func percent(_ share: Double) -> String {
    let tenths = thousandths(share)
    return "\(tenths / 10).\(tenths % 10)%"
  }

  private static func decimal(_ share: Double) -> String {
    let thousandths = thousandths(share)
    let digits = "\(thousandths % 1000)"
    return "\(thousandths / 1000)." + String(repeating: "0", count: 3 - digits.utf8.count) + digits
  }
}
