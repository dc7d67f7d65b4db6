/// Which file something is, whatever name it has: the one object behind its names.
package struct FileIdentity: Sendable, Hashable {
  package let device: UInt64
  package let inode: UInt64
  /// How many names the file has; 0 once it was removed.
  package let linkCount: Int

  package init(device: UInt64, inode: UInt64, linkCount: Int) {
    self.device = device
    self.inode = inode
    self.linkCount = linkCount
  }

  /// Whether both are the same file, however many names it had at either time.
  package func isSameFile(as other: FileIdentity) -> Bool {
    device == other.device && inode == other.inode
  }
}
