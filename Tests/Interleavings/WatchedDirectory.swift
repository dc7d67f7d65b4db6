import PageFile
import Simulation

/// A simulated directory at whose calls other threads may go on, and in which nobody may write beyond
/// what a file has.
final class WatchedDirectory: StorageDirectory, @unchecked Sendable {
  // Unchecked: only touched by whoever has the turn.
  let inner: SimulatedDirectory
  let conductor: Conductor
  weak var stage: Stage?

  init(_ inner: SimulatedDirectory, _ conductor: Conductor) {
    self.inner = inner
    self.conductor = conductor
  }

  func run<R>(
    _ moment: StaticString, changes: Bool = false, _ body: () throws(PageFileError) -> R
  ) throws(PageFileError) -> R {
    Interleaving.strand?.reach(moment)
    return try conductor.atomically { () throws(PageFileError) in
      if changes { stage?.willChangeDisk() }
      return try body()
    }
  }

  func path(of name: String) -> String { inner.path(of: name) }

  func identity(of name: String) throws(PageFileError) -> FileIdentity? {
    try run("stat") { () throws(PageFileError) in try inner.identity(of: name) }
  }

  func open(_ name: String, _ mode: FileMode) throws(PageFileError) -> any StorageFile {
    try run("open", changes: mode == .create) { () throws(PageFileError) in
      WatchedFile(try inner.open(name, mode), self)
    }
  }

  func rename(_ name: String, to newName: String) throws(PageFileError) {
    try run("rename", changes: true) { () throws(PageFileError) in
      try inner.rename(name, to: newName)
    }
  }

  func remove(_ name: String) throws(PageFileError) {
    try run("unlink", changes: true) { () throws(PageFileError) in try inner.remove(name) }
  }

  func sync() throws(PageFileError) {
    try run("fsync of the directory", changes: true) { () throws(PageFileError) in
      try inner.sync()
    }
  }
}

/// One open file of it.
final class WatchedFile: StorageFile {
  private let inner: any StorageFile
  private let directory: WatchedDirectory

  init(_ inner: any StorageFile, _ directory: WatchedDirectory) {
    self.inner = inner
    self.directory = directory
  }

  var path: String { inner.path }

  func identity() throws(PageFileError) -> FileIdentity {
    try directory.run("fstat") { () throws(PageFileError) in try inner.identity() }
  }

  func byteCount() throws(PageFileError) -> Int {
    try directory.run("lseek") { () throws(PageFileError) in try inner.byteCount() }
  }

  func read(into target: MutableBytes, at offset: Int) throws(PageFileError) -> Int {
    try directory.run("pread") { () throws(PageFileError) in
      try inner.read(into: target, at: offset)
    }
  }

  func write(_ bytes: Bytes, at offset: Int) throws(PageFileError) {
    let isSplit = directory.stage?.plot.splitsWrites == true && bytes.count > 8192
    let half = isSplit ? bytes.count / 1024 * 512 : bytes.count
    for (start, count) in [(0, half), (half, bytes.count - half)] where count > 0 {
      try directory.run("pwrite", changes: true) { () throws(PageFileError) in
        let part = bytes.slice(start, count)
        try expectBlocks(part, at: offset + start)
        try inner.write(part, at: offset + start)
      }
    }
  }

  /// Only zeros may make a file longer: everything else goes to blocks that exist.
  private func expectBlocks(_ bytes: Bytes, at offset: Int) throws(PageFileError) {
    let byteCount = try inner.byteCount()
    guard byteCount > 0, offset + bytes.count > byteCount else { return }
    for index in stride(from: 0, to: bytes.count, by: 8) where bytes[index] != 0 {
      let end = offset + bytes.count
      directory.stage?.ledger.violate("\(path) is written to byte \(end) and has \(byteCount)")
      return
    }
  }

  func extend(to byteCount: Int) throws(PageFileError) {
    try directory.run("fallocate", changes: true) { () throws(PageFileError) in
      try inner.extend(to: byteCount)
    }
  }

  func truncate(to byteCount: Int) throws(PageFileError) {
    try directory.run("ftruncate", changes: true) { () throws(PageFileError) in
      try inner.truncate(to: byteCount)
    }
  }

  func sync() throws(PageFileError) {
    try directory.run("fdatasync", changes: true) { () throws(PageFileError) in
      try inner.sync()
    }
  }

  func tryLock() throws(PageFileError) -> Bool {
    try directory.run("lock") { () throws(PageFileError) in try inner.tryLock() }
  }

  func close() {
    Interleaving.strand?.reach("close")
    directory.conductor.atomically { inner.close() }
  }
}
