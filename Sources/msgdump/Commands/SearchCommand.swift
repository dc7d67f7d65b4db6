import ArgumentParser
import MsgStore
import MsgStoreTools

/// Finds messages by their texts.
struct SearchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "search",
    abstract: "Finds messages by their texts and the names of their files, newest first.",
    discussion: """
      A message is found if each term of the query occurs in it, at any place. Terms end at \
      blanks; quotes keep a phrase together. Capitals do not count, and accents only in a term \
      that has some. Every text is read: the store has no index.
      """)

  /// The maximum number of hits printed at once.
  private static let batchCount = 100

  @OptionGroup var storeArgument: StoreArgument

  @Argument(help: "The terms to look for.")
  var query: String

  @OptionGroup var options: ReportOptions

  @Option(help: "The conversation to search.")
  var conversation: String?

  @Option(help: ArgumentHelp("The author of the messages.", valueName: "member"))
  var sender: String?

  @Flag(help: "Find messages of the local member alone.")
  var mine = false

  @OptionGroup var period: PeriodOptions

  private static let kinds = AttachmentKind.allCases.map(\.name)

  @Option(
    help: "The kind of attachment that the messages have: \(kinds.joined(separator: ", ")).",
    completion: .list(kinds))
  var kind: String?

  @Flag(help: "Let accents, vowel marks, and skin tones count in all terms.")
  var strict = false

  @Option(help: ArgumentHelp("The maximum number of hits.", valueName: "count"))
  var count: Int?

  func validate() throws {
    guard (count ?? 1) > 0 else { throw ValidationError("--count: below 1") }
    guard kind.map(Self.kinds.contains) ?? true else {
      throw ValidationError("--kind: unknown (\(kind ?? ""))")
    }
  }

  func run() throws {
    let query = try makeQuery()
    let store = try storeArgument.open()
    if let id = query.conversation, try store.read({ try $0.conversation(id) }) == nil {
      throw ToolError.failure("there is no conversation \"\(id)\"")
    }
    let report = options.begin()
    let printer = HitPrinter(report, isOneConversation: conversation != nil)
    var (hitCount, searchedCount) = (0, 0)
    var edge: SearchEdge? = SearchEdge(query)
    // Each slice is of a moment of its own, so that a search may take as long as it likes.
    while let start = edge, hitCount < count ?? .max {
      let batchCount = min(Self.batchCount, (count ?? .max) - hitCount)
      let slice = try store.read { try $0.search(from: start, count: batchCount) }
      for hit in slice { try printer.print(hit) }
      try report.flush()
      hitCount += slice.count
      searchedCount += slice.searchedMessageCount
      edge = slice.edge
    }
    let messages = searchedCount.counted("message")
    let rest = edge == nil ? "" : "; older ones were not searched"
    try report.line("-- \(hitCount.counted("hit")) in \(messages)\(rest)", .faint)
    try report.flush()
  }

  private func makeQuery() throws -> SearchQuery {
    var query = try SearchQuery(query, isStrict: strict)
    query.conversation = conversation.map { ConversationID($0) }
    query.sender = sender.map { MemberID($0) }
    query.isFromLocalMember = mine
    query.attachmentKind = AttachmentKind.allCases.first { $0.name == kind }
    let (since, until) = period.limits(options.times.format)
    guard since != nil || until != nil else { return query }
    // The range has its last time in it.
    let last = until.map { Timestamp(microseconds: max($0.microseconds, .min + 1) - 1) }
    let (first, end) = (
      since ?? Timestamp(microseconds: .min), last ?? Timestamp(microseconds: .max)
    )
    guard first <= end else { throw ToolError.failure("--until: not after --since") }
    query.times = first...end
    return query
  }
}

/// Prints one line a hit.
private struct HitPrinter {
  private let rows: Report.Rows

  init(_ report: Report, isOneConversation: Bool) {
    rows = report.untitledTable(
      .time("time"),
      isOneConversation ? .hidden("conversation") : .name("conversation", 16),
      .name("id", 20), .text("sender", 12), .hidden("text_ranges"), .hidden("file_names"),
      .hidden("file_name_ranges"), .text("text", 40))
  }

  func print(_ hit: SearchHit) throws {
    let message = hit.message
    let files = hit.fileNameRanges.sorted { $0.key < $1.key }.map {
      (name: message.attachments[$0.key].fileName ?? "", ranges: $0.value)
    }
    let fields: [Field] = [
      (message.serverTimestamp ?? message.localTime).map { .time($0) } ?? .none,
      .text(message.conversation.string), .text(message.id.string), .text(message.sender.string),
      .ranges(hit.textRanges), .list(files.map(\.name)),
      .array(files.map { .ranges($0.ranges) }),
    ]
    guard !rows.isJSON else { return try rows.add(fields + [.text(message.text)]) }
    var excerpt = Excerpt()
    excerpt.append(message.text, marking: hit.textRanges)
    for (name, ranges) in files {
      excerpt.append(excerpt.isEmpty ? "[" : " [")
      excerpt.append(name, marking: ranges)
      excerpt.append("]")
    }
    try rows.add(fields, excerpt)
  }
}
