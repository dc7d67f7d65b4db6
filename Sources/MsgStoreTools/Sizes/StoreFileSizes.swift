public import MsgStore

/// The sizes of a store's files.
public struct StoreFileSizes: Sendable, Hashable {
  /// The size of the data file in bytes, free space included.
  public let dataFileByteCount: Int
  /// The size of the two files of the log together, in bytes.
  ///
  /// They keep their space for later commits.
  public let logByteCount: Int

  /// The size of all files in bytes.
  public var totalByteCount: Int { dataFileByteCount + logByteCount }
}

extension MessageStore {
  /// The sizes of the store's files, as they are now.
  ///
  /// Asks the file system, and reads nothing.
  ///
  /// - Throws: `storage` if the store is closed or suspended.
  public var fileSizes: StoreFileSizes {
    get throws(StoreError) {
      let (data, log) = try core.fileByteCounts()
      return StoreFileSizes(dataFileByteCount: data, logByteCount: log)
    }
  }
}
