import ArgumentParser
import MsgStore
import MsgStoreTools
import PageFile

/// Makes a new store with the contents of another, in its smallest form.
struct CompactCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact",
    abstract: "Copies a store into a new one that is as small as it gets.",
    discussion: """
      The store is only read, also while its owner has it open, and stays as it is. The new one is \
      built beside its place, under a name that ends with .compacting, and gets its own name when \
      it is complete. On a terminal the sizes of both are said.
      """)

  @OptionGroup var storeArgument: StoreArgument

  @Argument(help: "The data file of the store to make.", completion: .file())
  var new: String

  func run() throws {
    try NewStorePlace.refuse(new, asFileOf: storeArgument.store, called: "the store")
    let place = try NewStorePlace(path: new, work: "compact", suffix: ".compacting")
    let store = try storeArgument.open()
    do {
      try Progress.showing("copying") { progress in
        let byteCount = try System.fileByteCount(at: storeArgument.store) ?? 0
        try store.copy(to: place.temporaryPath) {
          progress.tell($0, of: byteCount)
        } compacted: {
          progress.tell($0)
        }
      }
      try place.settle()
    } catch StoreError.storage(.busy(let path)) {
      // Another compact was faster; the temporary file belongs to it.
      throw StoreError.storage(.busy(path: path))
    } catch {
      place.clear()
      if case StoreError.storage(.snapshotExpired) = error { throw ToolError.ownerTooQuick }
      throw error
    }
    try sayByteCounts()
  }

  private func sayByteCounts() throws(ToolError) {
    guard System.standardErrorIsTerminal else { return }
    for (name, path) in [("before", storeArgument.store), ("after", new)] {
      var byteCount = 0
      for suffix in NewStorePlace.suffixes {
        byteCount += try System.fileByteCount(at: path + suffix) ?? 0
      }
      System.writeToStandardError("\(name): \(byteCount.counted("byte"))\n")
    }
  }
}
