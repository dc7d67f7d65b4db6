/// A directory of files in memory, for tests and for stores that need not outlive the process.
///
/// Syncs do nothing, transfers never fail, and writes are visible at once. Two openers of one name
/// see the same bytes, and the lock keeps them apart as on a disk.
package final class MemoryDirectory: StorageDirectory, @unchecked Sendable {
  // Unchecked: `contents` is only touched under `lock`.
  private let lock = Lock()
  private var contents: [String: MemoryFileContent] = [:]

  package init() {}

  package func path(of name: String) -> String { "memory:\(name)" }

  package func exists(_ name: String) -> Bool { identity(of: name) != nil }

  package func identity(of name: String) -> FileIdentity? {
    lock.withLock { contents[name]?.identity }
  }

  package func open(_ name: String, _ mode: FileMode) throws(PageFileError) -> any StorageFile {
    lock.lock()
    defer { lock.unlock() }
    if mode == .create {
      guard contents[name] == nil else {
        throw .ioError(call: "open", errno: 17, path: path(of: name))
      }
      contents[name] = MemoryFileContent()
    }
    guard let content = contents[name] else {
      throw .ioError(call: "open", errno: 2, path: path(of: name))
    }
    return MemoryFile(path: path(of: name), content: content)
  }

  package func rename(_ name: String, to newName: String) throws(PageFileError) {
    lock.lock()
    defer { lock.unlock() }
    guard contents[newName] == nil else {
      throw .ioError(call: "link", errno: 17, path: path(of: newName))
    }
    guard let content = contents.removeValue(forKey: name) else {
      throw .ioError(call: "rename", errno: 2, path: path(of: name))
    }
    contents[newName] = content
  }

  package func remove(_ name: String) throws(PageFileError) {
    lock.lock()
    defer { lock.unlock() }
    guard contents.removeValue(forKey: name) != nil else {
      throw .ioError(call: "unlink", errno: 2, path: path(of: name))
    }
  }

  package func sync() {}

  /// Returns a second directory with copies of all files in their current state, as a copy of the
  /// store made at this moment would hold them.
  package func copy() -> MemoryDirectory {
    let twin = MemoryDirectory()
    lock.withLock {
      for (name, content) in contents {
        let other = MemoryFileContent()
        other.bytes = content.lock.withLock { content.bytes }
        twin.contents[name] = other
      }
    }
    return twin
  }

  /// The bytes of a file; nil if there is no file of that name.
  package subscript(name: String) -> [UInt8]? {
    get {
      lock.withLock { contents[name] }.map { content in content.lock.withLock { content.bytes } }
    }
    set {
      lock.withLock {
        guard let newValue else { return contents[name] = nil }
        let content = MemoryFileContent()
        content.bytes = newValue
        contents[name] = content
      }
    }
  }
}

/// The bytes of one file, shared by all its openers.
private final class MemoryFileContent: @unchecked Sendable {
  // Unchecked: the fields are only touched under `lock`.
  let lock = Lock()
  var bytes: [UInt8] = []
  var isLocked = false

  var identity: FileIdentity {
    let address = UInt64(UInt(bitPattern: ObjectIdentifier(self)))
    return FileIdentity(device: 0, inode: address, linkCount: 1)
  }
}

private final class MemoryFile: StorageFile, @unchecked Sendable {
  // Unchecked: `holdsLock` is only touched under the content's lock.
  let path: String
  private let content: MemoryFileContent
  private var holdsLock = false

  init(path: String, content: MemoryFileContent) {
    self.path = path
    self.content = content
  }

  func identity() -> FileIdentity { content.identity }

  func byteCount() -> Int { content.lock.withLock { content.bytes.count } }

  func read(into target: MutableBytes, at offset: Int) -> Int {
    content.lock.withLock {
      let count = min(target.count, content.bytes.count - offset)
      guard count > 0 else { return 0 }
      unsafe content.bytes.withUnsafeBytes { source in
        unsafe target.withUnsafeMutableBytes { buffer in
          unsafe buffer.copyMemory(
            from: UnsafeRawBufferPointer(rebasing: source[offset..<offset + count]))
        }
      }
      return count
    }
  }

  func write(_ bytes: Bytes, at offset: Int) {
    content.lock.withLock {
      grow(to: offset + bytes.count)
      unsafe content.bytes.withUnsafeMutableBytes { target in
        unsafe bytes.withUnsafeBytes { source in
          unsafe UnsafeMutableRawBufferPointer(rebasing: target[offset..<offset + source.count])
            .copyMemory(from: source)
        }
      }
    }
  }

  private func grow(to byteCount: Int) {
    let missing = byteCount - content.bytes.count
    if missing > 0 { content.bytes += [UInt8](repeating: 0, count: missing) }
  }

  func extend(to byteCount: Int) { content.lock.withLock { grow(to: byteCount) } }

  func truncate(to byteCount: Int) {
    content.lock.withLock {
      grow(to: byteCount)
      content.bytes.removeLast(content.bytes.count - byteCount)
    }
  }

  func sync() {}

  func tryLock() -> Bool {
    content.lock.withLock {
      if content.isLocked { return false }
      content.isLocked = true
      holdsLock = true
      return true
    }
  }

  func close() {
    content.lock.withLock {
      if holdsLock { content.isLocked = false }
      holdsLock = false
    }
  }
}
