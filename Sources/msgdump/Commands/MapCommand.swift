import ArgumentParser
import MsgStore
import MsgStoreTools
import PageFile

/// Writes a page with pictures of the store's files.
struct MapCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "map",
    abstract: "Writes an HTML page with pictures of the files: slots, trees, log, conversations.",
    discussion: """
      The page needs no script, no network and no other file. Pages of the store that cannot be \
      read are shown as such. The largest conversations are named by their ids and titles; \
      the page has no messages.
      """)

  @OptionGroup var storeArgument: StoreArgument

  @OptionGroup var pageArgument: PageArgument

  func run() throws {
    let place = try pageArgument.place(showing: storeArgument)
    do {
      let inspector = try storeArgument.inspect()
      let layout = try inspector.layoutReport()
      let page = MapPage(
        name: PosixDirectory.split(storeArgument.store).name, layout: layout,
        log: try inspector.wal(), names: names(of: layout.conversations.largest))
      try place.write { writer in page.write(to: writer) }
    } catch PageFileError.snapshotExpired {
      throw ToolError.ownerTooQuick
    }
  }

  /// Returns the names of conversations, as far as they can be read.
  ///
  /// A page of a damaged store shows the numbers of the others.
  private func names(of conversations: [LargestConversations.Size]) -> [UInt32: String] {
    var names: [UInt32: String] = [:]
    guard let store = try? storeArgument.open() else { return names }
    try? store.read { snapshot in
      for conversation in conversations {
        guard let name = try? snapshot.conversationName(conversation.number) else { continue }
        names[conversation.number] = name.title.map { "\(name.id): \($0)" } ?? name.id.string
      }
    }
    return names
  }
}

/// The file of a page that a command writes.
struct PageArgument: ParsableArguments {
  @Argument(help: "The HTML file to write; - is standard output.", completion: .file())
  var page: String

  @Flag(help: "Replace an existing file.")
  var force = false

  /// Checks that the page may be written.
  func place(showing store: StoreArgument) throws -> HTMLPlace {
    try HTMLPlace(path: page, replaces: force, store: store.store)
  }
}
