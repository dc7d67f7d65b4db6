import Foundation

/// The public declarations of the libraries that take a number, as far as words tell.
///
/// A function is named by its type and its labels, a property by its type. Overloads have one name.
struct PublicNumbers {
  private(set) var names: Set<String> = []

  private static let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../../../Sources").standardizedFileURL

  /// The types of counts, numbers of bytes, durations, and times.
  private static let types: Set<String> = [
    "Int", "Int64", "Int32", "UInt32", "UInt64", "UInt16", "Double", "Duration", "Timestamp",
    "LSN", "some BinaryFloatingPoint", "ClosedRange<Int>", "ClosedRange<Int64>",
    "ClosedRange<Timestamp>",
  ]

  init(targets: [String]) throws {
    for target in targets {
      let root = Self.sources.appendingPathComponent(target)
      let paths = try FileManager.default.subpathsOfDirectory(atPath: root.path)
      for path in paths where path.hasSuffix(".swift") {
        let text = try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
        add(text.split(separator: "\n").map(Self.withoutComment).filter { !$0.isEmpty })
      }
    }
  }

  private static func withoutComment(_ line: Substring) -> String {
    let code = line.range(of: "//").map { line[..<$0.lowerBound] } ?? line
    return code.contains { $0 != " " } ? String(code) : ""
  }

  private mutating func add(_ lines: [String]) {
    var owners: [(indent: Int, name: String, isPublic: Bool)] = []
    for (index, line) in lines.enumerated() {
      let indent = line.prefix { $0 == " " }.count
      var words = line.split(separator: " ").map(String.init)
      if !line.dropFirst(indent).hasPrefix("}") && !line.dropFirst(indent).hasPrefix(")") {
        owners.removeAll { $0.indent >= indent }
      }
      if let kind = words.firstIndex(where: Self.typeKinds.contains), kind + 1 < words.count,
        words[..<kind].allSatisfy({ Self.modifiers.contains($0) || $0.hasPrefix("@") })
      {
        let name = words[kind + 1].prefix { !":<({".contains($0) }
        // An error is only ever thrown.
        let isError = ["Error", "Fault", "Problem"].contains { name.hasSuffix($0) }
        owners.append((indent, String(name), words.contains("public") && !isError))
        continue
      }
      if words.first == "case", owners.last?.isPublic == true, line.contains("(") {
        addFunction(
          of: owners.map(\.name).joined(separator: "."), words.dropFirst().joined(separator: " "))
      }
      words.removeAll { $0.hasPrefix("@") }
      guard words.first == "public" else { continue }
      words.removeAll(where: Self.modifiers.contains)
      let owner = owners.map(\.name).joined(separator: ".")
      let rest = words.joined(separator: " ")
      if rest.hasPrefix("var ") {
        addProperty(of: owner, rest.dropFirst(4), lines[(index + 1)...], indent)
      } else if ["func ", "init", "subscript"].contains(where: { rest.hasPrefix($0) }) {
        addFunction(of: owner, ([rest] + lines[(index + 1)...].prefix(30)).joined(separator: " "))
      }
    }
  }

  private mutating func addProperty(
    of owner: String, _ declaration: Substring, _ following: ArraySlice<String>, _ indent: Int
  ) {
    let name = declaration.prefix { $0.isLetter }
    let rest = declaration.dropFirst(name.count)
    if rest.contains("{") {
      // A computed property, unless it has an observer; only one with a setter takes numbers.
      let body = following.prefix { $0.prefix { $0 == " " }.count > indent }
      let setters = ["set {", "set(", "didSet {", "_modify {"]
      guard body.contains(where: { line in setters.contains { line.contains($0) } }) else { return }
    }
    let type = rest.hasPrefix(":") ? Self.type(rest.dropFirst()) : nil
    let value = rest.hasPrefix(" = ") ? rest.dropFirst(3).first : nil
    if type.map(Self.types.contains) ?? value?.isNumber ?? false {
      names.insert("\(owner).\(name)")
    }
  }

  private mutating func addFunction(of owner: String, _ text: String) {
    guard let opening = text.firstIndex(of: "(") else { return }
    let name = (text.hasPrefix("func ") ? text.dropFirst(5) : text[...])
      .prefix { $0.isLetter || $0.isNumber }
    var parameters = [""]
    var depth = 0
    var last: Character = " "
    for character in text[opening...] {
      if "([{<".contains(character) { depth += 1 }
      if ")]}".contains(character) || character == ">" && last != "-" { depth -= 1 }
      last = character
      if depth == 0 { break }
      if depth == 1, character == "," {
        parameters.append("")
      } else if depth > 1 || character != "(" {
        parameters[parameters.count - 1].append(character)
      }
    }
    var labels = ""
    var hasNumber = false
    for parameter in parameters {
      let colon = parameter.firstIndex(of: ":")
      labels += colon.flatMap { parameter[..<$0].split(separator: " ").first } ?? "_"
      labels += ":"
      let type = colon.map { parameter[$0...].dropFirst() } ?? parameter[...]
      hasNumber = hasNumber || Self.types.contains(Self.type(type))
    }
    if hasNumber, !name.isEmpty { names.insert("\(owner).\(name)(\(labels))") }
  }

  /// Returns a type without its default, its optional mark, and blanks around it.
  private static func type(_ text: some StringProtocol) -> String {
    let type = text.prefix { $0 != "=" && $0 != "{" }.trimmingCharacters(in: .whitespaces)
    return type.hasSuffix("?") ? String(type.dropLast()) : type
  }

  private static let typeKinds: Set<String> = [
    "extension", "struct", "enum", "class", "actor", "protocol",
  ]
  private static let modifiers: Set<String> = [
    "public", "package", "private", "fileprivate", "final", "indirect", "static", "mutating",
    "consuming", "borrowing", "nonisolated", "convenience",
  ]
}
