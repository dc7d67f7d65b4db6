import ArgumentParser
import MsgStore
import MsgStoreTools
import PageFile

/// Makes a copy of a store that may be in use.
struct BackupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Copies a store as of one moment, while it is in use.",
    discussion: """
      The copy is one file and opens like any other store. Use this and not cp: a store is a data \
      file and its log, and cp may take them at two moments.
      """)

  @OptionGroup var storeArgument: StoreArgument

  @Argument(help: "The file to make.", completion: .file())
  var new: String

  func run() throws {
    guard try System.fileByteCount(at: new) == nil else {
      throw StoreToolError.alreadyExists(path: new, work: "backup")
    }
    let store = try storeArgument.open()
    try NewStorePlace.claim([new + NewStorePlace.partialSuffix], "backup")
    do {
      let byteCount = try System.fileByteCount(at: storeArgument.store) ?? 0
      try Progress.showing("copying") { progress in
        try store.backUp(to: new) { progress.tell($0, of: byteCount) }
      }
    } catch StoreError.storage(.snapshotExpired) {
      throw ToolError.ownerTooQuick
    }
  }
}
