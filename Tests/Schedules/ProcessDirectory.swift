package import PageFile

/// The shared directory as one simulated process sees it: it may have to wait before each call, and
/// may be killed there.
package final class ProcessDirectory: StorageDirectory {
  let disk: SharedDisk
  let process: Int
  private let scheduler: Scheduler?

  /// - Parameter scheduler: nil for somebody whom nobody disturbs.
  package init(_ disk: SharedDisk, process: Int, _ scheduler: Scheduler?) {
    self.disk = disk
    self.process = process
    self.scheduler = scheduler
  }

  /// Waits for this process's turn.
  func ask() throws(PageFileError) {
    if scheduler?.ask(process) == false {
      throw .ioError(call: "killed", errno: 0, path: "process \(process)")
    }
  }

  package func path(of name: String) -> String { name }

  package func identity(of name: String) throws(PageFileError) -> FileIdentity? {
    try ask()
    return disk.identity(of: name)
  }

  package func open(_ name: String, _ mode: FileMode) throws(PageFileError) -> any StorageFile {
    try ask()
    return try disk.open(name, mode, self)
  }

  package func rename(_ name: String, to newName: String) throws(PageFileError) {
    try ask()
    try disk.link(name, to: newName, process)
    try ask()
    try disk.unlink(name, process)
  }

  package func remove(_ name: String) throws(PageFileError) {
    try ask()
    try disk.unlink(name, process)
  }

  package func sync() throws(PageFileError) { try ask() }
}

/// A file that one simulated process has open.
final class ProcessFile: StorageFile, @unchecked Sendable {
  // Unchecked: `isOpen` is only touched by the disk, under its lock.
  let path: String
  let inode: SharedDisk.Inode
  let isReadOnly: Bool
  var isOpen = true
  private let directory: ProcessDirectory
  private var disk: SharedDisk { directory.disk }
  var process: Int { directory.process }

  init(
    path: String, _ inode: SharedDisk.Inode, _ directory: ProcessDirectory, isReadOnly: Bool
  ) {
    self.path = path
    self.inode = inode
    self.directory = directory
    self.isReadOnly = isReadOnly
  }

  func identity() throws(PageFileError) -> FileIdentity {
    try directory.ask()
    return disk.inspect(self) { _ in disk.identity(of: inode) }
  }

  func byteCount() throws(PageFileError) -> Int {
    try directory.ask()
    return disk.inspect(self, \.count)
  }

  func read(into target: MutableBytes, at offset: Int) throws(PageFileError) -> Int {
    try directory.ask()
    return disk.inspect(self) { bytes in
      let count = min(target.count, bytes.count - offset)
      guard count > 0 else { return 0 }
      Bytes.with(bytes) { target.copy($0.slice(offset, count), to: 0) }
      return count
    }
  }

  /// In two parts when it is long: neither readers nor a kill wait for the end of a write.
  func write(_ bytes: Bytes, at offset: Int) throws(PageFileError) {
    let half = bytes.count > 1024 ? bytes.count / 1024 * 512 : bytes.count
    for part in [(0, half), (half, bytes.count - half)] where part.1 > 0 {
      try directory.ask()
      let source = bytes.slice(part.0, part.1)
      disk.change(self) { content in
        grow(&content, to: offset + part.0 + part.1)
        unsafe content.withUnsafeMutableBytes { target in
          unsafe source.withUnsafeBytes { source in
            let range = offset + part.0..<offset + part.0 + source.count
            unsafe UnsafeMutableRawBufferPointer(rebasing: target[range])
              .copyMemory(from: source)
          }
        }
      }
    }
  }

  private func grow(_ content: inout [UInt8], to byteCount: Int) {
    let missing = byteCount - content.count
    if missing > 0 { content += [UInt8](repeating: 0, count: missing) }
  }

  func extend(to byteCount: Int) throws(PageFileError) {
    try directory.ask()
    disk.change(self) { grow(&$0, to: byteCount) }
  }

  func truncate(to byteCount: Int) throws(PageFileError) {
    try directory.ask()
    disk.change(self) { content in
      grow(&content, to: byteCount)
      content.removeLast(content.count - byteCount)
    }
  }

  func sync() throws(PageFileError) {
    try directory.ask()
    disk.inspect(self) { _ in }
  }

  func tryLock() throws(PageFileError) -> Bool {
    try directory.ask()
    return disk.tryLock(self)
  }

  func close() {
    // Nobody is told that this process was killed: the kernel has closed the file then.
    if (try? directory.ask()) != nil { disk.closeCounted(self) }
  }
}
