import Foundation
import Testing

/// The parts of docs/style.md that a machine can check.
struct StyleTests {
  private static let targets = [
    "PageFile", "PageFileSalvage", "MsgStore", "MsgStoreTools", "TextDictionary", "LZ4Blocks",
    "SystemLZ4", "SealedPages", "msgdump", "msgstore-bench",
  ]

  private static let files = Result {
    try targets.flatMap { target in
      try SourceTree(target).files.map { (name: "\(target)/\($0.path)", file: $0) }
    }
  }

  @Test func noLineIsLongerThanAHundredColumns() throws {
    for (name, file) in try Self.files.get() {
      for (index, line) in SourceTree.lines(of: file.text).enumerated()
      where line.utf8.count > 100 && line.count > 100 {
        Issue.record("\(name):\(index + 1): \(line.count) columns")
      }
    }
  }

  @Test func noFunctionHasMoreThanSeventyLines() throws {
    var count = 0
    for (name, file) in try Self.files.get() {
      let lines = SourceTree.lines(of: file.code)
      for (index, line) in lines.enumerated()
      where Self.isFunction(line) {
        // The signature ends where its body begins, or before an empty line if it has no body.
        let indent = line.prefix { $0 == " " }
        let signature = lines[index...].prefix { !$0.allSatisfy { $0 == " " } }
        guard let open = signature.firstIndex(where: { $0.hasSuffix("{") }),
          let end = lines[(open + 1)...].firstIndex(where: { $0.hasPrefix(indent + "}") })
        else { continue }
        count += 1
        if end - index + 1 > 70 {
          Issue.record("\(name):\(index + 1): function of \(end - index + 1) lines")
        }
      }
    }
    #expect(count > 500)
  }

  /// True if a line declares a function or an initialiser, behind its modifiers.
  private static func isFunction(_ line: Substring) -> Bool {
    for word in line.split(separator: " ") {
      if word == "func" || word == "deinit" || word.hasPrefix("init") { return true }
      guard word.first?.isLowercase ?? false || word.hasPrefix("@"), word != "return",
        word != "let", word != "var", word != "case", word != "if", word != "try"
      else { return false }
    }
    return false
  }

  /// A documentation comment begins with a verb or a noun, not with a question.
  @Test func noDocumentationBeginsWithAQuestionWord() throws {
    let question: Set<Substring> = [
      "What", "Whether", "Who", "Whom", "Whose", "How", "Where", "When", "Which",
    ]
    for (name, file) in try Self.files.get() {
      var isFirst = true
      for (index, line) in SourceTree.lines(of: file.text).enumerated() {
        let words = line.split(separator: " ", maxSplits: 2)
        let isDocumentation = words.first == "///"
        if isDocumentation, isFirst, words.count > 1, question.contains(words[1]) {
          Issue.record("\(name):\(index + 1): \(line)")
        }
        isFirst = !isDocumentation
      }
    }
  }

  /// Words of the glossary's column "not" that mean nothing else.
  @Test(arguments: [
    "journal", "superblock", "transaction id", "page id", "interior node", "database file",
    "unsend(", "is withdrawn", "was taken back",
  ])
  func noWordOfTheGlossaryIsReplacedByAnother(_ word: String) throws {
    // The benchmark speaks of other engines too.
    for (name, file) in try Self.files.get() where !name.hasPrefix("msgstore-bench") {
      guard file.text.range(of: word, options: [.caseInsensitive, .literal]) != nil
      else { continue }
      Issue.record("\(name): \"\(word)\"; see the words in docs/style.md")
    }
  }

  /// Verbs that had come to mean many things, and the files of `MsgStore` that may declare them.
  ///
  /// Elsewhere a function gets a name that says its object, as `writeTotals`.
  private static let owners: [String: Set<String>] = [
    "write": [
      "MessageStore.swift", "MessageStore+Async.swift", "StoreCore.swift",
      "UnwrittenMessages.swift", "WorkQueue.swift", "Summaries.swift", "Messages.swift",
    ],
    "finish": [
      "Transaction+Operations.swift", "SliceBuilder.swift", "ThreadWalk.swift",
      "OutboxAnswers.swift",
    ],
    "note": ["Sequences.swift"],
    "settle": [
      "Transaction+Operations.swift", "WriterMemory.swift", "OutboxFollowing.swift",
      "OutboxEntries.swift", "MessageStore+Sending.swift",
    ],
    "entry": [
      "OutboxKey.swift", "IDEntry.swift", "EntryReader.swift", "OutboxReader.swift",
      "MessageNames.swift",
    ],
  ]

  @Test func noFurtherTypeDeclaresAVerbThatMeantManyThings() throws {
    for file in try SourceTree("MsgStore").files {
      let name = String(file.path.split(separator: "/").last ?? "")
      for (index, line) in SourceTree.lines(of: file.code).enumerated() {
        guard let keyword = line.range(of: "func ") else { continue }
        let verb = String(line[keyword.upperBound...].prefix { $0.isLetter })
        if let files = Self.owners[verb], !files.contains(name) {
          Issue.record("\(file.path):\(index + 1): \(verb) needs a name that says its object")
        }
      }
    }
  }

  /// The compiler would read the whole file once more, by the macro's parser, in every process that
  /// compiles a file of its module: a tenth to a fifth of the time that the tests are built in.
  @Test func onlySuitesWithTraitsAreMarked() throws {
    let tests = SourceTree.package.appendingPathComponent("Tests")
    for path in try FileManager.default.subpathsOfDirectory(atPath: tests.path)
    where path.hasSuffix("Tests.swift") {
      let text = try String(contentsOf: tests.appendingPathComponent(path), encoding: .utf8)
      for (index, line) in SourceTree.lines(of: text).enumerated()
      where line.split(separator: " ").first == "@Suite" {
        Issue.record("\(path):\(index + 1): @Suite without traits")
      }
    }
  }
}
