import Foundation
import Testing

/// The fuzzer of JSON lines gets far only with the names that their reader knows.
struct FuzzDictionaryTests {
  private static let visits = [
    "required", "nullable", "optional", "always", "list", "flag", "bytes",
  ]

  @Test func theDictionaryHasEveryFieldAndKindOfALine() throws {
    let dictionary = try String(
      contentsOf: SourceTree.package.appendingPathComponent("Fuzz/json-lines.dict"),
      encoding: .utf8)
    let files = try SourceTree("MsgStoreTools").files.filter { $0.path.hasPrefix("JSONLines/") }
    let names = Set(files.flatMap { Self.fieldNames(in: $0.text) })
    #expect(names.count > 100)
    for name in names.sorted() where !dictionary.contains("\\\"\(name)\\\":") {
      Issue.record("Fuzz/json-lines.dict: field \"\(name)\" missing")
    }
    let record = try #require(files.first { $0.path.hasSuffix("JSONRecord.swift") })
    let kinds = Self.kinds(in: record.text)
    #expect(kinds.count > 10)
    for kind in kinds where !dictionary.contains("\\\"kind\\\":\\\"\(kind)\\\"") {
      Issue.record("Fuzz/json-lines.dict: kind \"\(kind)\" missing")
    }
  }

  /// The names that stand first where a visitor is called.
  private static func fieldNames(in text: String) -> [String] {
    visits.flatMap { visit in
      text.components(separatedBy: ".\(visit)(\"").dropFirst().map {
        String($0.prefix { $0 != "\"" })
      }
    }
  }

  /// The raw values of the kinds of lines.
  private static func kinds(in text: String) -> [String] {
    let body = text.components(separatedBy: "enum Kind: String {").last ?? ""
    return body.prefix { $0 != "}" }.split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ")
      guard words.first == "case" else { return nil }
      return words.last.map { String($0.filter { $0 != "\"" }) }
    }
  }
}
