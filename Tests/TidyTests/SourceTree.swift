import Foundation

/// The sources of one target, as far as words tell who refers to whom.
struct SourceTree {
  struct File {
    /// Under the target's folder.
    let path: String
    /// The code without comments and without what stands in literals.
    let code: String

    /// The folder that it lies in; the name of a file that lies in none.
    var place: String {
      guard let slash = path.firstIndex(of: "/") else { return path }
      return String(path[..<slash])
    }

    /// Every word that may name a type.
    var typeNames: Set<String> {
      Set(code.matches(of: #/\b[A-Z]\w*/#).map { String($0.output) })
    }
  }

  let files: [File]

  /// - Parameter target: A folder in `Sources`.
  init(_ target: String) throws {
    let package = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let root = package.appendingPathComponent("Sources").appendingPathComponent(target)
    let paths = try FileManager.default.subpathsOfDirectory(atPath: root.path).sorted()
    files = try paths.filter { $0.hasSuffix(".swift") }.map { path in
      let text = try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
      return File(path: path, code: Self.code(of: text))
    }
  }

  /// Where each type is declared that other files can see.
  var places: [String: String] {
    var places: [String: String] = [:]
    for file in files {
      for line in file.code.split(separator: "\n") {
        let words = line.prefix { $0 != "{" && $0 != ":" && $0 != "<" && $0 != "=" }
          .split(separator: " ")
        guard line.first != " ", !words.contains("private"), !words.contains("fileprivate"),
          let index = words.firstIndex(where: Self.kinds.contains), index + 1 < words.count
        else { continue }
        places[String(words[index + 1])] = file.place
      }
    }
    return places
  }

  private static let kinds: Set<Substring> = [
    "struct", "class", "enum", "protocol", "actor", "typealias",
  ]

  /// For each place the places that it refers to, and by which names.
  func references(passingOver ignored: Set<String>) -> [String: [String: Set<String>]] {
    let places = places
    var references: [String: [String: Set<String>]] = [:]
    for file in files {
      for name in file.typeNames.subtracting(ignored) {
        guard let target = places[name], target != file.place else { continue }
        references[file.place, default: [:]][target, default: []].insert(name)
      }
    }
    return references
  }

  /// What is left of a text without comments and literals.
  private static func code(of text: String) -> String {
    var code: [UInt8] = []
    let bytes = Array(text.utf8)
    func starts(_ word: StaticString, _ index: Int) -> Bool {
      let word = Array("\(word)".utf8)
      return bytes[index...].starts(with: word)
    }
    var index = 0
    while index < bytes.count {
      if starts("//", index) {
        index = bytes[index...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
      } else if starts("/*", index) {
        index += 2
        while index < bytes.count, !starts("*/", index) { index += 1 }
        index += 2
      } else if starts("\"\"\"", index) {
        index += 3
        while index < bytes.count, !starts("\"\"\"", index) { index += 1 }
        index += 3
      } else if bytes[index] == UInt8(ascii: "\"") {
        index += 1
        while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
          index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        index += 1
      } else {
        code.append(bytes[index])
        index += 1
      }
    }
    return String(decoding: code, as: UTF8.self)
  }
}
