import Damage
import PageFile

/// A directory with a word to be said before each call, outside of all locks: the word may wait, or
/// refuse the call.
final class WatchedDirectory: StorageDirectory {
  typealias Kind = HookedDirectory.Call.Kind
  typealias Word = @Sendable (Kind, _ path: String) throws(PageFileError) -> Void

  private let directory: any StorageDirectory
  private let word: Locked<Word>

  init(_ directory: any StorageDirectory) {
    self.directory = directory
    word = Locked({ (_, _) in })
  }

  func before(_ word: @escaping Word) { self.word.withLock { $0 = word } }

  fileprivate func say(_ kind: Kind, _ path: String) throws(PageFileError) {
    try word.withLock { $0 }(kind, path)
  }

  func path(of name: String) -> String { directory.path(of: name) }

  func identity(of name: String) throws(PageFileError) -> FileIdentity? {
    try say(.identity, name)
    return try directory.identity(of: name)
  }

  func open(_ name: String, _ mode: FileMode) throws(PageFileError) -> any StorageFile {
    try say(mode == .create ? .create : .open, name)
    return WatchedFile(try directory.open(name, mode), self)
  }

  func rename(_ name: String, to newName: String) throws(PageFileError) {
    try say(.rename, name)
    try directory.rename(name, to: newName)
  }

  func remove(_ name: String) throws(PageFileError) {
    try say(.remove, name)
    try directory.remove(name)
  }

  func sync() throws(PageFileError) {
    try say(.syncNames, path(of: ""))
    try directory.sync()
  }
}

private final class WatchedFile: StorageFile {
  private let file: any StorageFile
  private let directory: WatchedDirectory

  init(_ file: any StorageFile, _ directory: WatchedDirectory) {
    self.file = file
    self.directory = directory
  }

  var path: String { file.path }
  var isLockedByThisProcess: Bool { file.isLockedByThisProcess }

  func identity() throws(PageFileError) -> FileIdentity {
    try directory.say(.identity, path)
    return try file.identity()
  }

  func byteCount() throws(PageFileError) -> Int {
    try directory.say(.byteCount, path)
    return try file.byteCount()
  }

  func read(into target: MutableBytes, at offset: Int) throws(PageFileError) -> Int {
    try directory.say(.read, path)
    return try file.read(into: target, at: offset)
  }

  func write(_ bytes: Bytes, at offset: Int) throws(PageFileError) {
    try directory.say(.write, path)
    try file.write(bytes, at: offset)
  }

  func extend(to byteCount: Int) throws(PageFileError) {
    try directory.say(.extend, path)
    try file.extend(to: byteCount)
  }

  func truncate(to byteCount: Int) throws(PageFileError) {
    try directory.say(.truncate, path)
    try file.truncate(to: byteCount)
  }

  func sync() throws(PageFileError) {
    try directory.say(.sync, path)
    try file.sync()
  }

  func tryLock() throws(PageFileError) -> Bool {
    try directory.say(.lock, path)
    return try file.tryLock()
  }

  func close() { file.close() }
}
