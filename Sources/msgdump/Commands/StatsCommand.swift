import ArgumentParser
import MsgStore
import MsgStoreTools
import PageFile

/// Shows the conversations that take the most space.
struct StatsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stats",
    abstract: "Shows the sizes of the files, and the conversations that take the most space.",
    discussion: """
      Stored bytes are those of keys and records; the sum over all conversations is near the size \
      of a compacted data file. Attachments are not in the store: their sizes are those that \
      messages state, and the files of those with a local path are on this device. Attachments \
      of expired and retracted messages are not counted by kind. Nearly every page is read twice.
      """)

  @OptionGroup var storeArgument: StoreArgument

  @Flag(help: "Print each row as an object in a line of JSON.")
  var json = false

  @Option(help: ArgumentHelp("The number of conversations to list.", valueName: "count"))
  var count = 20

  func validate() throws {
    guard count > 0 else { throw ValidationError("--count: below 1") }
  }

  func run() throws {
    let report = Report(
      Output(), form: json ? .json : .text(Terminal.current()), times: .utc)
    let store = try storeArgument.open()
    var all: [(id: ConversationID, sizes: ConversationSizes)] = []
    var contents = ContentSizes()
    try Progress.showing("reading") { progress in
      try store.readOnce { snapshot in
        var total = 0
        try snapshot.forEachConversation { _ in total += 1 }
        try snapshot.forEachConversationSizes { id, sizes in
          all.append((id, sizes))
          progress.tell(all.count, of: total)
        }
        try snapshot.forEachContentSizes { _, sizes in contents += sizes }
      }
    }
    let files = try store.fileSizes
    try report.fact("data file", key: "data_file_bytes", .number(files.dataFileByteCount), " bytes")
    try report.fact("log", key: "log_bytes", .number(files.logByteCount), " bytes")
    try report.fact("conversations", .number(all.count))
    let messageCount = all.reduce(0) { $0 + $1.sizes.messageCount }
    try report.fact("messages", .number(messageCount))
    try report.fact(
      "texts", key: "text_bytes", .number(all.reduce(0) { $0 + $1.sizes.textByteCount }), " bytes")
    try report.fact(
      "bytes a message", key: "bytes_per_message",
      messageCount == 0 ? .none : .number(files.dataFileByteCount / messageCount))
    try report.endFacts()
    try printRows(all, to: report)
    try printAttachments(contents, to: report)
    try report.flush()
  }

  private func printRows(
    _ all: [(id: ConversationID, sizes: ConversationSizes)], to report: Report
  ) throws {
    let sum = max(1, all.reduce(0) { $0 + $1.sizes.storedByteCount })
    // Equal sizes stay in the order in which the conversations came.
    let order = all.indices.sorted {
      (all[$0].sizes.storedByteCount, $1) > (all[$1].sizes.storedByteCount, $0)
    }
    try report.line("")
    let rows = try report.table(
      "conversations", .number("stored", 12, key: "stored_bytes"), .number("share", 6),
      .number("messages", 9), .number("texts", 12, key: "text_bytes"),
      .number("attachments", 11), .number("their bytes", 14, key: "attachment_bytes"),
      .name("conversation", 20))
    for index in order.prefix(count) {
      let sizes = all[index].sizes
      try rows.add([
        .number(sizes.storedByteCount), .share(Double(sizes.storedByteCount) / Double(sum)),
        .number(sizes.messageCount), .number(sizes.textByteCount), .number(sizes.attachmentCount),
        .number(sizes.attachmentByteCount), .text(all[index].id.string),
      ])
    }
  }

  private func printAttachments(_ contents: ContentSizes, to report: Report) throws {
    if contents.attachments.isEmpty { return }
    try report.line("")
    let rows = try report.table(
      "attachments", .number("count", 12), .number("bytes", 14),
      .number("local", 12, key: "local_count"),
      .number("their bytes", 14, key: "local_bytes"), .name("kind", 20))
    for kind in AttachmentKind.allCases {
      guard let sizes = contents.attachments[kind] else { continue }
      try rows.add([
        .number(sizes.count), .number(sizes.byteCount), .number(sizes.localCount),
        .number(sizes.localByteCount), .text("\(kind)"),
      ])
    }
  }
}
