import PageFile

/// The files of a damaged store, opened for reading as far as they are readable.
///
/// Nothing is ever written here. A device that has lost some of its sectors fails to read these and
/// returns all others, so a failed read is a hole and not the end.
final class DamagedFiles {
  let dataFile: any StorageFile
  let dataByteCount: Int
  /// The bytes at each meta slot's place; shorter than a slot if the file ends there or reading
  /// fails.
  let metaBytes: [[UInt8]]
  private(set) var wals: [WAL]

  /// A WAL file, if it exists, and its header, if that is readable.
  struct WAL {
    let name: String
    let file: (any StorageFile)?
    let byteCount: Int
    let headerBytes: [UInt8]
    var header: WALHeader?
  }

  init(in directory: any StorageDirectory, name: String) throws(PageFileError) {
    let dataFile = try directory.open(name, .read)
    var files: [(any StorageFile)?] = [nil, nil]
    do throws(PageFileError) {
      dataByteCount = try dataFile.byteCount()
      try Engine.openWALFiles(&files, directory, name, .read)
      var wals: [WAL] = []
      for (file, name) in zip(files, Engine.walFileNames(name)) {
        let bytes = file.map { Self.read($0, at: 0, byteCount: WALHeader.byteCount) } ?? []
        wals.append(
          WAL(
            name: name, file: file, byteCount: try file?.byteCount() ?? 0, headerBytes: bytes,
            header: Bytes.with(bytes) { WALHeader($0) }))
      }
      self.wals = wals
    } catch {
      dataFile.close()
      for file in files { file?.close() }
      throw error
    }
    self.dataFile = dataFile
    metaBytes = (0..<2).map { index in
      Self.read(dataFile, at: MetaSlot.offset(of: index), byteCount: MetaSlot.byteCount)
    }
  }

  deinit {
    dataFile.close()
    for wal in wals { wal.file?.close() }
  }

  /// Opens the headers of the WAL files of an encrypted store.
  func unlock(_ keys: StoreKeys) {
    for index in wals.indices {
      wals[index].header = Bytes.with(wals[index].headerBytes) { WALHeader.read($0, keys) }
    }
  }

  /// Returns the bytes at an offset: fewer, or none, if the file ends or cannot be read there.
  @inline(never)
  static func read(_ file: any StorageFile, at offset: Int, byteCount: Int) -> [UInt8] {
    var buffer = ByteBuffer(capacity: byteCount)
    buffer.append(zeros: byteCount)
    let count = (try? file.read(into: buffer.mutableBytes, at: offset)) ?? 0
    return buffer.bytes.slice(0, count).array()
  }

  /// True if another process has written to the store since it was opened here.
  ///
  /// In that case the data read is of different moments.
  var haveChanged: Bool {
    let metas = (0..<2).map { index in
      Self.read(dataFile, at: MetaSlot.offset(of: index), byteCount: MetaSlot.byteCount)
    }
    let headers = wals.map { wal in
      wal.file.map { Self.read($0, at: 0, byteCount: WALHeader.byteCount) } ?? []
    }
    return metas != metaBytes || headers != wals.map(\.headerBytes)
      || (try? dataFile.byteCount()) != dataByteCount
  }
}
