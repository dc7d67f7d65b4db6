import ArgumentParser
import MsgStore
import PageFile

/// Writes a conversation as a page for a person.
struct HTMLCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "html",
    abstract: "Writes a conversation as an HTML page.",
    discussion: """
      The page needs no script, no network and no other file, and has every message with its \
      replies, edits, reactions, and attachments, of which it has names and sizes only. Own \
      messages stand at the right.
      """)

  @OptionGroup var storeArgument: StoreArgument

  @OptionGroup var pageArgument: PageArgument

  @OptionGroup var times: TimeOptions

  @Option(help: "The conversation to write.")
  var conversation: String

  @Option(
    help: ArgumentHelp(
      "The earliest time, such as 2024-01-31 or 2024-01-31T18:05.", valueName: "date"))
  var since: String?

  @Option(
    help: ArgumentHelp("The time before which the messages end.", valueName: "date"))
  var until: String?

  func validate() throws {
    for (name, date) in [("--since", since), ("--until", until)] {
      guard date.map({ times.format.parse($0) != nil }) ?? true else {
        throw ValidationError("\(name) takes a date such as 2024-01-31 or 2024-01-31T18:05")
      }
    }
  }

  func run() throws {
    let place = try pageArgument.place(showing: storeArgument)
    let store = try storeArgument.open()
    let range = MessageTimes(
      since: since.flatMap(times.format.parse), until: until.flatMap(times.format.parse))
    try store.readOnce { snapshot in
      try snapshot.forEachConversation(named: conversation) { found in
        try place.write { writer in
          let page = ConversationPage(
            conversation: found, localMember: store.localMember, range: range,
            format: MomentFormat(times.format), writer: writer)
          try page.write(snapshot)
        }
      }
    }
  }
}
