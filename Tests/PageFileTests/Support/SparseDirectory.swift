import PageFile

/// Files in memory that may be many terabytes long, as long as little is written to them.
final class SparseDirectory: StorageDirectory, @unchecked Sendable {
  // Unchecked: `contents` is only touched under `lock`.
  private let lock = Lock()
  private var contents: [String: SparseFile] = [:]

  func path(of name: String) -> String { "sparse:\(name)" }

  func identity(of name: String) -> FileIdentity? {
    lock.withLock { contents[name] }.map { $0.identity() }
  }

  func open(_ name: String, _ mode: FileMode) throws(PageFileError) -> any StorageFile {
    try lock.withLock { () throws(PageFileError) in
      if mode == .create { contents[name] = SparseFile(path: path(of: name)) }
      guard let file = contents[name] else {
        throw .ioError(call: "open", errno: 2, path: path(of: name))
      }
      return file
    }
  }

  func rename(_ name: String, to newName: String) {
    lock.withLock { contents[newName] = contents.removeValue(forKey: name) }
  }

  func remove(_ name: String) { lock.withLock { contents[name] = nil } }
  func sync() {}
}

private final class SparseFile: StorageFile, @unchecked Sendable {
  // Unchecked: the fields are only touched under `lock`.
  let path: String
  private let lock = Lock()
  private var pieces: [Int: [UInt8]] = [:]
  private var end = 0
  private static let pieceByteCount = 512

  init(path: String) { self.path = path }

  func identity() -> FileIdentity {
    let address = UInt64(UInt(bitPattern: ObjectIdentifier(self)))
    return FileIdentity(device: 0, inode: address, linkCount: 1)
  }

  func byteCount() -> Int { lock.withLock { end } }

  func read(into target: MutableBytes, at offset: Int) -> Int {
    lock.withLock {
      let count = max(0, min(target.count, end - offset))
      for index in 0..<count {
        let (piece, place) = (offset + index).quotientAndRemainder(
          dividingBy: Self.pieceByteCount)
        target[index] = pieces[piece]?[place] ?? 0
      }
      return count
    }
  }

  func write(_ bytes: Bytes, at offset: Int) {
    lock.withLock {
      end = max(end, offset + bytes.count)
      for index in 0..<bytes.count {
        let (piece, place) = (offset + index).quotientAndRemainder(
          dividingBy: Self.pieceByteCount)
        if bytes[index] == 0 && pieces[piece] == nil { continue }
        let zeros = [UInt8](repeating: 0, count: Self.pieceByteCount)
        pieces[piece, default: zeros][place] = bytes[index]
      }
    }
  }

  func extend(to byteCount: Int) { lock.withLock { end = max(end, byteCount) } }

  func truncate(to byteCount: Int) {
    lock.withLock {
      end = byteCount
      let (piece, place) = byteCount.quotientAndRemainder(dividingBy: Self.pieceByteCount)
      pieces = pieces.filter { $0.key <= piece }
      if let bytes = pieces[piece] {
        pieces[piece] = bytes.prefix(place) + [UInt8](repeating: 0, count: bytes.count - place)
      }
    }
  }

  func sync() {}
  func tryLock() -> Bool { true }
  func close() {}
}
