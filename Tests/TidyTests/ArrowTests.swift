import Foundation
import Testing

/// The layers of each library: the table here is the rule, and the drawing in docs/design.md comes
/// from it.
struct ArrowTests {
  /// The layers of one library, lowest first, each with those that it may refer to.
  ///
  /// A layer may only refer to layers above it in the table, so the arrows cannot go round in a
  /// circle.
  struct Layers {
    let target: String
    let knows: [(layer: String, layers: [String])]
    /// Folders whose subfolders are layers of their own.
    var nested: Set<String> = []
    /// Types that every layer throws.
    var everywhere: Set<String> = []
  }

  static let pageFile = Layers(
    target: "PageFile",
    knows: [
      ("Bytes", []),
      ("Storage", ["Bytes"]),
      ("Page", ["Bytes", "Storage"]),
      ("PageFileError.swift", ["Page"]),
      ("PageFileError+Description.swift", []),
      ("DatabaseOptions.swift", ["Page"]),
      ("WAL", ["Bytes", "Storage", "Page"]),
      ("Pager", ["Bytes", "Storage", "Page"]),
      ("Tree", ["Bytes", "Page", "Pager"]),
      ("Transaction", ["Bytes", "Storage", "Page", "DatabaseOptions.swift", "WAL", "Pager"]),
      ("Database.swift", ["Storage", "Page", "DatabaseOptions.swift", "Transaction"]),
      ("Database+Compact.swift", ["Storage", "Page", "Pager", "Tree", "Database.swift"]),
      (
        "Database+Copy.swift",
        ["Bytes", "Page", "Pager", "Tree", "Transaction", "Database.swift"]
      ),
      (
        "Database+Files.swift",
        ["Bytes", "Storage", "Page", "DatabaseOptions.swift", "Transaction", "Database.swift"]
      ),
      (
        "Inspect",
        [
          "Bytes", "Storage", "Page", "DatabaseOptions.swift", "WAL", "Pager", "Tree",
          "Transaction", "Database.swift",
        ]
      ),
    ],
    everywhere: ["PageFileError"])

  static let msgStore = Layers(
    target: "MsgStore",
    knows: [
      ("Model", []),
      ("Compression", ["Model"]),
      ("Tables", ["Model", "Compression"]),
      ("Packing", ["Model", "Compression", "Tables"]),
      ("Reading", ["Model", "Compression", "Tables", "Packing"]),
      ("Search", ["Model", "Tables", "Packing", "Reading"]),
      ("Observation", ["Model"]),
      ("Transaction", ["Model", "Compression", "Tables", "Packing"]),
      ("Packer", ["Model", "Tables", "Packing", "Transaction"]),
      ("Projections", ["Model", "Tables", "Packing", "Transaction", "Packer"]),
      ("Facts/Members", ["Model", "Tables", "Transaction"]),
      ("Facts/Beside", ["Model", "Tables", "Transaction"]),
      (
        "Facts/Receipts",
        ["Model", "Tables", "Reading", "Transaction", "Packer", "Projections", "Facts/Beside"]
      ),
      (
        "Facts/Messages",
        [
          "Model", "Compression", "Tables", "Transaction", "Packer", "Projections",
          "Facts/Beside", "Facts/Receipts",
        ]
      ),
      (
        "Facts/Conversations",
        [
          "Model", "Compression", "Tables", "Packing", "Transaction", "Packer", "Projections",
          "Facts/Beside", "Facts/Receipts", "Facts/Messages",
        ]
      ),
      (
        "Outbox",
        [
          "Model", "Tables", "Packing", "Reading", "Transaction", "Projections", "Facts/Members",
          "Facts/Beside", "Facts/Receipts", "Facts/Messages", "Facts/Conversations",
        ]
      ),
      (
        "Acts",
        [
          "Model", "Compression", "Tables", "Packing", "Reading", "Transaction", "Projections",
          "Facts/Members", "Facts/Beside", "Facts/Receipts", "Facts/Messages",
          "Facts/Conversations", "Outbox",
        ]
      ),
      (
        "Store",
        [
          "Model", "Compression", "Tables", "Packing", "Reading", "Search", "Observation",
          "Transaction", "Packer", "Projections", "Facts/Members", "Facts/Beside",
          "Facts/Receipts", "Facts/Messages", "Facts/Conversations", "Outbox", "Acts",
        ]
      ),
      ("Live", ["Model", "Reading", "Observation", "Store"]),
    ],
    nested: ["Facts"],
    everywhere: ["StoreError", "StoreDefect"])

  static let tools = Layers(
    target: "MsgStoreTools",
    knows: [
      ("Text", []),
      ("Files", []),
      ("Export", []),
      ("Check", ["Export"]),
      ("JSONLines", ["Files", "Export"]),
      ("Restore", ["Files", "Export", "JSONLines"]),
      ("Salvage", ["Files", "Export", "Check", "Restore"]),
      ("Sizes", []),
    ],
    everywhere: ["StoreToolError"])

  @Test(arguments: [pageFile, msgStore, tools])
  func noLayerRefersToOneThatItMustNotKnow(_ layers: Layers) throws {
    let allowed = Dictionary(uniqueKeysWithValues: layers.knows.map { ($0.layer, Set($0.layers)) })
    let tree = try SourceTree(layers.target, nested: layers.nested)
    let references = tree.references(passingOver: layers.everywhere)
    #expect(references.count >= 2)
    for (place, targets) in references {
      for (target, names) in targets where !(allowed[place]?.contains(target) ?? false) {
        Issue.record("\(place) must not know \(target), but refers to \(names.sorted())")
      }
    }
  }

  @Test(arguments: [pageFile, msgStore, tools])
  func noArrowIsDrawnThatTheCodeDoesNotHave(_ layers: Layers) throws {
    let tree = try SourceTree(layers.target, nested: layers.nested)
    let references = tree.references(passingOver: layers.everywhere)
    for (layer, known) in layers.knows {
      for target in known where references[layer]?[target] == nil {
        Issue.record("\(layer) refers to nothing of \(target): take the arrow away")
      }
    }
  }

  @Test(arguments: [pageFile, msgStore, tools])
  func theArrowsGoRoundInNoCircle(_ layers: Layers) {
    var below: Set<String> = []
    for (layer, known) in layers.knows {
      let unknown = Set(known).subtracting(below)
      #expect(unknown.isEmpty, "\(layer) knows layers that are not below it: \(unknown.sorted())")
      below.insert(layer)
    }
  }

  /// `MSGSTORE_DRAW=1` writes the drawing.
  @Test(arguments: [pageFile, msgStore, tools])
  func theDrawingInTheDesignIsThatOfTheTable(_ layers: Layers) throws {
    let page = SourceTree.package.appendingPathComponent("docs/design.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    let start = "<!-- layers of \(layers.target), drawn by TidyTests -->\n"
    let end = "<!-- end of layers -->\n"
    let opening = try #require(text.range(of: start), "no drawing of \(layers.target)")
    let closing = try #require(
      text.range(of: end, range: opening.upperBound..<text.endIndex))
    let drawing = layers.drawing
    if ProcessInfo.processInfo.environment["MSGSTORE_DRAW"] == "1" {
      let drawn = text.replacingCharacters(
        in: opening.upperBound..<closing.lowerBound, with: drawing)
      try drawn.write(to: page, atomically: true, encoding: .utf8)
    } else {
      #expect(
        text[opening.upperBound..<closing.lowerBound] == drawing,
        "docs/design.md shows other layers of \(layers.target); MSGSTORE_DRAW=1 writes them")
    }
  }
}

extension ArrowTests.Layers: CustomTestStringConvertible {
  var testDescription: String { target }

  /// One line a layer, lowest first, with those that it refers to.
  var drawing: String {
    let width = knows.map(\.layer.count).max() ?? 0
    let indent = String(repeating: " ", count: 4 + width + 3)
    var drawing = "```\n"
    for (layer, known) in knows {
      var line = layer.padding(toLength: width, withPad: " ", startingAt: 0)
      if !known.isEmpty { line += " →" }
      for (index, name) in known.enumerated() {
        let word = index + 1 < known.count ? " \(name)," : " \(name)"
        if line.count + word.count > 100 {
          drawing += line + "\n"
          line = String(indent.dropFirst(5))
        }
        line += word
      }
      drawing += line.reversed().drop { $0 == " " }.reversed() + "\n"
    }
    return drawing + "```\n"
  }
}
