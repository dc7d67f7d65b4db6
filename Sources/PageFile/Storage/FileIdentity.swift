/// The identity of a file, independent of its names.
package struct FileIdentity: Sendable, Equatable {
  package let device: UInt64
  package let inode: UInt64
  /// The number of names the file has; 0 once it is removed.
  package let linkCount: Int

  package init(device: UInt64, inode: UInt64, linkCount: Int) {
    self.device = device
    self.inode = inode
    self.linkCount = linkCount
  }

  /// Returns true if both are the same file; the number of names is ignored.
  package func isSameFile(as other: FileIdentity) -> Bool {
    device == other.device && inode == other.inode
  }
}
