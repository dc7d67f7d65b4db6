import ArgumentParser
import MsgStore
import MsgStoreTools
import PageFile

/// Copies a store into an encrypted one.
struct EncryptCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "encrypt",
    abstract: "Copies a store without encryption into a new, encrypted one.",
    discussion: """
      The store is only read, also while its owner has it open, and stays as it is. Removing it \
      afterwards does not erase it: flash storage and backups may keep its texts. The copy has a \
      name that ends with .partial until it is complete.
      """)

  @Argument(help: "The store's data file.", completion: .file())
  var store: String

  @Argument(help: "The data file of the encrypted store to make.", completion: .file())
  var new: String

  @OptionGroup var key: KeyOptions

  func run() throws {
    let encryption = try key.requiredEncryption()
    var options = StoreOptions(access: .readOnly)
    options.encryption = nil
    let opened = try MessageStore(path: store, options: options)
    try opened.copy(of: store, to: new, work: "encrypt", encryption)
  }
}

/// Copies an encrypted store into one without encryption.
struct DecryptCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "decrypt",
    abstract: "Copies an encrypted store into a new one without encryption.",
    discussion: """
      The store is only read, also while its owner has it open, and stays as it is. Everybody who \
      can read the new files can read the messages. The copy has a name that ends with .partial \
      until it is complete.
      """)

  @OptionGroup var storeArgument: StoreArgument

  @Argument(help: "The data file of the store to make.", completion: .file())
  var new: String

  func run() throws {
    _ = try storeArgument.key.requiredEncryption()
    let opened = try storeArgument.open()
    try opened.copy(of: storeArgument.store, to: new, work: "decrypt", nil)
  }
}

/// Changes the app's key of an encrypted store.
struct ChangeKeyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "change-key",
    abstract: "Changes the key of an encrypted store, in its place.",
    discussion: """
      The store must not be in use. Keep both keys until the command has ended: after a crash at \
      least one of them opens the store, and the command can be run again. Who has the old key and \
      an old copy of the files still reads that copy; encrypt a decrypted copy to get a new data \
      key.
      """)

  @OptionGroup var storeArgument: StoreArgument

  @Option(
    help: ArgumentHelp(
      "The file with the new key: 32 bytes, or 64 hexadecimal digits.", valueName: "path"),
    completion: .file())
  var newKeyFile: String

  func run() throws {
    let former = try storeArgument.key.requiredEncryption()
    let new = try AppKeyText.encryption(AppKeyText.key(inFile: newKeyFile))
    guard try System.fileByteCount(at: storeArgument.store) != nil else {
      // An opening for writing would make a store.
      throw ToolError.failure("\(storeArgument.store): no such store")
    }
    var options = DatabaseOptions()
    options.encryption = former
    let database = try Database(path: storeArgument.store, options: options)
    try database.changeKey(to: new)
    try database.close()
  }
}

extension MessageStore {
  /// Makes a copy under another key, or without encryption, at a new place.
  fileprivate func copy(
    of store: String, to new: String, work: String, _ encryption: Encryption?
  ) throws {
    try NewStorePlace.refuse(new, asFileOf: store, called: "the store")
    guard try System.fileByteCount(at: new) == nil else {
      throw StoreToolError.alreadyExists(path: new, work: work)
    }
    try NewStorePlace.claim([new + NewStorePlace.partialSuffix], work)
    do {
      let byteCount = try System.fileByteCount(at: store) ?? 0
      try Progress.showing("copying") { progress in
        try backUp(to: new, encryption: encryption) { progress.tell($0, of: byteCount) }
      }
    } catch StoreError.storage(.snapshotExpired) {
      throw ToolError.ownerTooQuick
    }
  }
}
