import Testing

/// Who may know whom: the layers as docs/design.md draws them are the layers of the code.
@Suite struct ArrowTests {
  /// For each folder of `PageFile`, and each file that lies in none, those that it may refer to.
  ///
  /// `PageFileError` is passed over, as everything throws it. What is not here may not be referred to by
  /// anything above either: a new folder needs a line.
  private static let pageFile: [String: Set<String>] = [
    "Bytes": [],
    "Storage": ["Bytes"],
    "Page": ["Bytes", "Storage"],
    "PageFileError.swift": ["Page"],
    "PageFileError+Description.swift": ["Page"],
    "DatabaseOptions.swift": ["Storage"],
    "WAL": ["Bytes", "Storage", "Page"],
    "Pager": ["Bytes", "Storage", "Page"],
    "Tree": ["Bytes", "Storage", "Page", "Pager"],
    "Transaction": ["Bytes", "Storage", "Page", "WAL", "Pager", "DatabaseOptions.swift"],
    "Database.swift": ["Storage", "Page", "Pager", "Transaction", "DatabaseOptions.swift"],
    "Database+Compact.swift": ["Storage", "Page", "Pager", "Tree", "Database.swift"],
    "Database+Copy.swift": [
      "Bytes", "Storage", "Page", "Pager", "Tree", "Transaction", "Database.swift",
    ],
    "Inspect": [
      "Bytes", "Storage", "Page", "WAL", "Pager", "Tree", "Transaction", "Database.swift",
      "DatabaseOptions.swift",
    ],
    "Salvage": ["Bytes", "Storage", "Page", "WAL", "Pager", "Tree", "Transaction"],
  ]

  @Test func nothingInPageFileRefersToWhatItMustNotKnow() throws {
    let references = try SourceTree("PageFile").references(passingOver: ["PageFileError"])
    #expect(references.count > 8)
    for (place, targets) in references {
      for (target, names) in targets where !(Self.pageFile[place]?.contains(target) ?? false) {
        Issue.record("\(place) must not know \(target), but refers to \(names.sorted())")
      }
    }
  }

  @Test func theArrowsGoRoundInNoCircle() {
    var left = Self.pageFile
    while let (place, _) = left.first(where: { $0.value.allSatisfy { left[$0] == nil } }) {
      left[place] = nil
    }
    #expect(left.isEmpty, "in a circle: \(left.keys.sorted())")
  }
}
