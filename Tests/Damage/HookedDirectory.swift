package import PageFile

/// Files in memory with a word to be said before every call: to count, to copy, or to refuse.
///
/// The word is said and the call is made under one lock, so a copy taken there is what a process
/// killed between two system calls leaves behind, also beside other threads.
package final class HookedDirectory: StorageDirectory {
  /// One call of the engine's to what would be the operating system.
  package struct Call: Sendable {
    package enum Kind: Sendable, Hashable, CaseIterable {
      case identity, open, create, rename, remove, syncNames
      case byteCount, read, write, extend, truncate, sync, lock
    }

    package let kind: Kind
    package let name: String
    package var offset = 0
    /// What is to be written; valid during the call.
    package var bytes = Bytes.empty
    /// How long the file is to be.
    package var newByteCount = 0

    /// Whether it changes a file or a name.
    package var isChange: Bool {
      switch kind {
      case .create, .rename, .remove, .write, .extend, .truncate: true
      default: false
      }
    }
  }

  package typealias Hook = @Sendable (Call, MemoryDirectory) throws(PageFileError) -> Void

  package let files: MemoryDirectory
  private let lock = Lock()
  private let hook: Hook

  package init(_ files: MemoryDirectory = MemoryDirectory(), before hook: @escaping Hook) {
    self.files = files
    self.hook = hook
  }

  fileprivate func call<R>(
    _ call: Call, _ body: () throws(PageFileError) -> R
  ) throws(PageFileError) -> R {
    lock.lock()
    defer { lock.unlock() }
    try hook(call, files)
    return try body()
  }

  package func path(of name: String) -> String { files.path(of: name) }

  package func identity(of name: String) throws(PageFileError) -> FileIdentity? {
    try call(Call(kind: .identity, name: name)) { () throws(PageFileError) in
      files.identity(of: name)
    }
  }

  package func open(_ name: String, _ mode: FileMode) throws(PageFileError) -> any StorageFile {
    let kind = mode == .create ? Call.Kind.create : .open
    let file = try call(Call(kind: kind, name: name)) { () throws(PageFileError) in
      try files.open(name, mode)
    }
    return HookedFile(file, name, self)
  }

  package func rename(_ name: String, to newName: String) throws(PageFileError) {
    try call(Call(kind: .rename, name: name)) { () throws(PageFileError) in
      try files.rename(name, to: newName)
    }
  }

  package func remove(_ name: String) throws(PageFileError) {
    try call(Call(kind: .remove, name: name)) { () throws(PageFileError) in
      try files.remove(name)
    }
  }

  package func sync() throws(PageFileError) {
    try call(Call(kind: .syncNames, name: "")) { () throws(PageFileError) in files.sync() }
  }
}

private final class HookedFile: StorageFile {
  private let file: any StorageFile
  private let name: String
  private let directory: HookedDirectory

  init(_ file: any StorageFile, _ name: String, _ directory: HookedDirectory) {
    self.file = file
    self.name = name
    self.directory = directory
  }

  private func call<R>(
    _ kind: HookedDirectory.Call.Kind, at offset: Int = 0, _ bytes: Bytes = .empty,
    newByteCount: Int = 0, _ body: () throws(PageFileError) -> R
  ) throws(PageFileError) -> R {
    let call = HookedDirectory.Call(
      kind: kind, name: name, offset: offset, bytes: bytes, newByteCount: newByteCount)
    return try directory.call(call, body)
  }

  var path: String { file.path }

  func identity() throws(PageFileError) -> FileIdentity {
    try call(.identity) { () throws(PageFileError) in try file.identity() }
  }

  func byteCount() throws(PageFileError) -> Int {
    try call(.byteCount) { () throws(PageFileError) in try file.byteCount() }
  }

  func read(into target: MutableBytes, at offset: Int) throws(PageFileError) -> Int {
    try call(.read, at: offset) { () throws(PageFileError) in
      try file.read(into: target, at: offset)
    }
  }

  func write(_ bytes: Bytes, at offset: Int) throws(PageFileError) {
    try call(.write, at: offset, bytes) { () throws(PageFileError) in
      try file.write(bytes, at: offset)
    }
  }

  func extend(to byteCount: Int) throws(PageFileError) {
    try call(.extend, newByteCount: byteCount) { () throws(PageFileError) in
      try file.extend(to: byteCount)
    }
  }

  func truncate(to byteCount: Int) throws(PageFileError) {
    try call(.truncate, newByteCount: byteCount) { () throws(PageFileError) in
      try file.truncate(to: byteCount)
    }
  }

  func sync() throws(PageFileError) {
    try call(.sync) { () throws(PageFileError) in try file.sync() }
  }

  func tryLock() throws(PageFileError) -> Bool {
    try call(.lock) { () throws(PageFileError) in try file.tryLock() }
  }

  func close() { file.close() }
}
