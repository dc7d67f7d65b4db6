/// JSON for the report: objects keep their order, and short ones stay on one line.
package enum JSONValue {
  case string(String)
  case number(Double)
  case array([JSONValue])
  case object([(name: String, value: JSONValue)])

  /// The value as it appears within a line of text.
  var plain: String {
    switch self {
    case .string(let string): string
    case .array(let values): values.map(\.plain).joined(separator: " ")
    case .number, .object: text(depth: 2)
    }
  }

  func text(depth: Int) -> String {
    switch self {
    case .string(let string): return Self.quoted(string)
    case .number(let number):
      return number == number.rounded() && abs(number) < 1e15
        ? String(Int64(number)) : Number.text(number, digits: 3)
    case .array(let values):
      return Self.joined(values.map { $0.text(depth: depth + 1) }, "[", "]", depth: depth)
    case .object(let members):
      let texts = members.map { "\(Self.quoted($0.name)): \($0.value.text(depth: depth + 1))" }
      return Self.joined(texts, "{", "}", depth: depth)
    }
  }

  /// Joins elements: one per line down to the second level, all on one line below it.
  private static func joined(
    _ texts: [String], _ opening: String, _ closing: String, depth: Int
  ) -> String {
    guard depth < 2, !texts.isEmpty else {
      return opening + texts.joined(separator: ", ") + closing
    }
    let space = String(repeating: "  ", count: depth + 1)
    let lines = texts.map { space + $0 }.joined(separator: ",\n")
    return "\(opening)\n\(lines)\n\(space.dropLast(2))\(closing)"
  }

  private static func quoted(_ string: String) -> String {
    var quoted = "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case ..<" ":
        let digits = String(scalar.value, radix: 16)
        quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}
