import PageFile

/// Disks made of files, and files taken from disks.
extension SimulatedDisk {
  /// A disk that holds some files, durably; each is as long as is said, with zeros behind its bytes.
  package init(_ files: [(name: String, bytes: [UInt8], byteCount: Int)]) {
    self.init()
    for (name, bytes, byteCount) in files {
      let inode = makeInode()
      Bytes.with(bytes) { write(inode, Payload($0), at: 0) }
      resize(inode, to: byteCount)
      link(name, to: inode)
      sync(inode)
    }
    syncNames()
  }

  /// What a file holds, in the page cache; nil when there is no file of that name.
  package func bytes(of name: String) -> [UInt8]? {
    guard let inode = inode(named: name) else { return nil }
    var buffer = ByteBuffer(capacity: byteCount(of: inode))
    buffer.append(zeros: byteCount(of: inode))
    _ = read(inode, into: buffer.mutableBytes, at: 0)
    return buffer.bytes.array()
  }

  /// Depends on all that a file holds, in the page cache; nil when there is none.
  package func contentHash(of name: String) -> UInt64? {
    inode(named: name).map { inodes[$0].cached.contentHash }
  }
}
