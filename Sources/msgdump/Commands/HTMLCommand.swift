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

  @OptionGroup var period: PeriodOptions

  func run() throws {
    let place = try pageArgument.place(showing: storeArgument)
    let store = try storeArgument.open()
    let (since, until) = period.limits(times.format)
    let range = MessageTimes(since: since, until: until)
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
