import ArgumentParser
import MsgStore
import PageFile

/// The store that a command reads.
struct StoreArgument: ParsableArguments {
  @Argument(help: "The store's data file.", completion: .file())
  var store: String

  @OptionGroup var key: KeyOptions

  /// Opens the store's messages without writing anything.
  func open() throws -> MessageStore {
    var options = StoreOptions()
    options.access = .readOnly
    options.encryption = try key.encryption()
    return try MessageStore(path: store, options: options)
  }

  /// Opens the store's pages without writing anything.
  func inspect() throws -> Inspector {
    try Inspector(path: store, encryption: key.encryption())
  }
}
