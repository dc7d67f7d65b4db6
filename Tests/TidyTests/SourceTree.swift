import Foundation

/// The sources of one target, as far as words tell who refers to whom.
struct SourceTree {
  struct File {
    /// Under the target's folder.
    let path: String
    /// The layer that it belongs to: its folder; the name of a file that lies in none.
    let place: String
    let text: String
    /// The text without comments and without what stands in literals, line by line.
    let code: String

    /// Every word that may name a type.
    var typeNames: Set<String> {
      Set(
        code.utf8.split { !Self.isInWord($0) }
          .filter { $0.first.map { $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") } ?? false }
          .map { String(decoding: $0, as: UTF8.self) })
    }

    /// The properties that the code reads of a transaction or a view, as `transaction.receipts`.
    var partNames: Set<String> {
      var names: Set<String> = []
      for owner in ["transaction", "view"] {
        for piece in code.components(separatedBy: owner + ".").dropFirst() {
          let name = piece.utf8.prefix { Self.isInWord($0) }
          names.insert(owner + "." + String(decoding: name, as: UTF8.self))
        }
      }
      return names
    }

    private static func isInWord(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
        true
      default: false
      }
    }
  }

  /// The folder of the package.
  static let package = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  let files: [File]

  /// - Parameters:
  ///   - target: A folder in `Sources`.
  ///   - nested: Folders whose subfolders are layers.
  init(_ target: String, nested: Set<String> = []) throws {
    let root = Self.package.appendingPathComponent("Sources").appendingPathComponent(target)
    let paths = try FileManager.default.subpathsOfDirectory(atPath: root.path).sorted()
    files = try paths.filter { $0.hasSuffix(".swift") }.map { path in
      let text = try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
      let parts = path.split(separator: "/").map(String.init)
      let place = nested.contains(parts[0]) ? parts[0] + "/" + parts[1] : parts[0]
      return File(path: path, place: place, text: text, code: Self.code(of: text))
    }
  }

  static func lines(of text: String) -> [Substring] {
    text.split(separator: "\n", omittingEmptySubsequences: false)
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

  /// Where the type lies that a property added to `Transaction` or `StoreView` leads to: a layer
  /// that says `transaction.receipts` refers to the layer of `Receipts`, although it does not name
  /// it.
  var accessors: [String: String] {
    let places = places
    var accessors: [String: String] = [:]
    for file in files {
      for (owner, name) in [("Transaction", "transaction"), ("StoreView", "view")] {
        for piece in file.code.components(separatedBy: "extension \(owner) {").dropFirst() {
          let words = piece.split(maxSplits: 5) { " \n:".contains($0) }
            .drop { $0 == "package" }
          guard words.count >= 3, words.first == "var" else { continue }
          let (property, type) = (words[words.startIndex + 1], words[words.startIndex + 2])
          accessors["\(name).\(property)"] = places[String(type)]
        }
      }
    }
    return accessors
  }

  /// For each place the places that it refers to, and by which names.
  func references(passingOver ignored: Set<String>) -> [String: [String: Set<String>]] {
    let (places, accessors) = (places, accessors)
    var references: [String: [String: Set<String>]] = [:]
    for file in files {
      for name in file.partNames {
        guard let target = accessors[name], target != file.place else { continue }
        references[file.place, default: [:]][target, default: []].insert(name)
      }
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
    func starts(_ word: [UInt8], _ index: Int) -> Bool {
      bytes[index] == word[0] && bytes[index...].starts(with: word)
    }
    let (line, open, close) = (Array("//".utf8), Array("/*".utf8), Array("*/".utf8))
    let quotes = Array(repeating: UInt8(ascii: "\""), count: 3)
    var index = 0
    func skip() {
      if bytes[index] == UInt8(ascii: "\n") { code.append(bytes[index]) }
      index += 1
    }
    while index < bytes.count {
      if starts(line, index) {
        index = bytes[index...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
      } else if starts(open, index) {
        index += 2
        while index < bytes.count, !starts(close, index) { skip() }
        index += 2
      } else if starts(quotes, index) {
        index += 3
        while index < bytes.count, !starts(quotes, index) { skip() }
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
