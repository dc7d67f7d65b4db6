import PageFile

/// One directory that several simulated processes share, as an operating system shows it to them.
///
/// It also watches over what only whoever owns the store may do: each change of a file, and each
/// change of a name, by somebody who does not hold the lock is noted, and so is each call on a file
/// that was closed.
package final class SharedDisk: @unchecked Sendable {
  // Unchecked: the fields are only touched under `lock`; the baton already keeps the processes apart.
  private let lock = Lock()
  private var names: [String: Inode] = [:]
  private var handles: [ProcessFile] = []
  private var nextInode: UInt64 = 1
  private(set) var breaches: [String] = []
  /// Whether somebody else has held a lock since the process began what it is at.
  private var hasMetLock: Set<Int> = []
  private var hasMetChange: Set<Int> = []
  /// A planted defect: locks that keep nobody out.
  private let grantsEveryLock: Bool

  /// A file, whatever names it has.
  final class Inode {
    let number: UInt64
    var bytes: [UInt8] = []
    var linkCount = 1
    var lockHolder: ProcessFile?

    init(number: UInt64) { self.number = number }
  }

  package init(_ image: [String: [UInt8]] = [:], grantsEveryLock: Bool = false) {
    self.grantsEveryLock = grantsEveryLock
    for (name, bytes) in image.sorted(by: { $0.key < $1.key }) { create(name).bytes = bytes }
  }

  /// The bytes of all files by their names.
  package var image: [String: [UInt8]] { lock.withLock { names.mapValues(\.bytes) } }

  package func exists(_ name: String) -> Bool { lock.withLock { names[name] != nil } }

  /// What was done that only the owner of the store may do.
  package var foundBreaches: [String] { lock.withLock { breaches } }

  /// How many files a process has open, and how many of them it has locked.
  package func holdings(of process: Int) -> (openCount: Int, lockCount: Int) {
    lock.withLock {
      let own = handles.filter { $0.process == process && $0.isOpen }
      return (own.count, own.count { $0.inode.lockHolder === $0 })
    }
  }

  /// The kernel closes what a process has open.
  package func release(_ process: Int) {
    lock.withLock { for handle in handles where handle.process == process { close(handle) } }
  }

  func forgetFiles() {
    lock.withLock {
      for handle in handles { handle.inode.lockHolder = nil }
      handles = []
    }
  }

  // MARK: What others do meanwhile

  /// Remembers from here on whether others hold locks or change something.
  package func beginWatching(for process: Int) {
    lock.withLock {
      hasMetLock.remove(process)
      hasMetChange.remove(process)
      let isLocked = handles.contains {
        $0.process != process && $0.isOpen && $0.inode.lockHolder === $0
      }
      if isLocked { hasMetLock.insert(process) }
    }
  }

  /// Whether others have held a lock since, and whether they have changed something.
  package func met(by process: Int) -> (lock: Bool, change: Bool) {
    lock.withLock { (hasMetLock.contains(process), hasMetChange.contains(process)) }
  }

  private func noteChange(by process: Int) {
    for other in 0..<8 where other != process { hasMetChange.insert(other) }
  }

  private func expectOwner(_ process: Int, of inode: Inode?, _ what: String) {
    if inode?.lockHolder?.process != process {
      breaches.append("process \(process) \(what) without holding the lock")
    }
  }

  // MARK: Calls

  private func create(_ name: String) -> Inode {
    let inode = Inode(number: nextInode)
    nextInode += 1
    names[name] = inode
    return inode
  }

  func identity(of name: String) -> FileIdentity? {
    lock.withLock { names[name].map(identity) }
  }

  func identity(of inode: Inode) -> FileIdentity {
    FileIdentity(device: 1, inode: inode.number, linkCount: inode.linkCount)
  }

  func open(
    _ name: String, _ mode: FileMode, _ directory: ProcessDirectory
  ) throws(PageFileError) -> ProcessFile {
    try lock.withLock { () throws(PageFileError) in
      let path = directory.path(of: name)
      if mode == .create {
        guard names[name] == nil else { throw .ioError(call: "open", errno: 17, path: path) }
        noteChange(by: directory.process)
        _ = create(name)
      }
      guard let inode = names[name] else { throw .ioError(call: "open", errno: 2, path: path) }
      let handle = ProcessFile(path: path, inode, directory, isReadOnly: mode == .read)
      handles.append(handle)
      return handle
    }
  }

  /// The first half of a renaming, as `PosixDirectory` does it.
  func link(_ name: String, to newName: String, _ process: Int) throws(PageFileError) {
    try lock.withLock { () throws(PageFileError) in
      guard names[newName] == nil else { throw .ioError(call: "link", errno: 17, path: newName) }
      guard let inode = names[name] else { throw .ioError(call: "link", errno: 2, path: name) }
      expectOwner(process, of: inode, "names \(name) \(newName)")
      noteChange(by: process)
      names[newName] = inode
      inode.linkCount += 1
    }
  }

  func unlink(_ name: String, _ process: Int) throws(PageFileError) {
    try lock.withLock { () throws(PageFileError) in
      guard let inode = names[name] else { throw .ioError(call: "unlink", errno: 2, path: name) }
      expectOwner(process, of: inode, "removes \(name)")
      noteChange(by: process)
      names[name] = nil
      inode.linkCount -= 1
    }
  }

  /// Gives a file another name, as somebody who knows nothing of stores may at any moment.
  package func move(_ name: String, to newName: String) {
    lock.withLock {
      names[newName] = names.removeValue(forKey: name)
    }
  }

  func change(_ handle: ProcessFile, _ body: (inout [UInt8]) -> Void) {
    lock.withLock {
      let name = handle.path
      // A WAL file belongs to whoever has the data file beside it.
      let isLog = name.contains("-wal")
      let owner = isLog ? dataFile(besideLog: handle) : handle.inode
      expectOwner(handle.process, of: owner, "changes \(name)")
      if !handle.isOpen { breaches.append("process \(handle.process) changes \(name), closed") }
      if handle.isReadOnly { breaches.append("process \(handle.process) changes \(name)") }
      noteChange(by: handle.process)
      body(&handle.inode.bytes)
    }
  }

  /// The data file that a process has open, whatever its name is now.
  private func dataFile(besideLog log: ProcessFile) -> Inode? {
    handles.last { $0.process == log.process && $0.isOpen && !$0.path.contains("-wal") }?.inode
  }

  func inspect<R>(_ handle: ProcessFile, _ body: ([UInt8]) -> R) -> R {
    lock.withLock {
      if !handle.isOpen {
        breaches.append("process \(handle.process) reads \(handle.path), closed")
      }
      return body(handle.inode.bytes)
    }
  }

  func tryLock(_ handle: ProcessFile) -> Bool {
    lock.withLock {
      if handle.inode.lockHolder != nil && !grantsEveryLock { return false }
      handle.inode.lockHolder = handle
      for other in 0..<8 where other != handle.process { hasMetLock.insert(other) }
      return true
    }
  }

  func closeCounted(_ handle: ProcessFile) {
    lock.withLock {
      if !handle.isOpen { breaches.append("\(handle.path) is closed twice") }
      close(handle)
    }
  }

  private func close(_ handle: ProcessFile) {
    handle.isOpen = false
    if handle.inode.lockHolder === handle { handle.inode.lockHolder = nil }
  }
}
