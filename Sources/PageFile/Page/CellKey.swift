/// A key in two pieces, as a page stores it: the prefix that the page's keys share, and the cell's
/// own suffix.
///
/// Joining the pieces would copy them, so all operations on whole keys work on the pieces. A key in
/// one piece has an empty `head`.
@usableFromInline
package struct CellKey {
  @usableFromInline package let head: Bytes
  @usableFromInline package let tail: Bytes

  @inlinable
  package init(head: Bytes, tail: Bytes) {
    self.head = head
    self.tail = tail
  }

  @inlinable
  package init(_ key: Bytes) {
    self.init(head: .empty, tail: key)
  }

  /// The key of a branch page's first cell: empty, and ordered before all other keys.
  package static var none: CellKey { CellKey(.empty) }

  @inlinable package var byteCount: Int { head.count + tail.count }

  private func byte(at offset: Int) -> UInt8 {
    offset < head.count ? head[offset] : tail[offset - head.count]
  }

  /// Returns eight bytes from `offset` as one big-endian number.
  ///
  /// Only for a key in a page or a `ByteBuffer`; see rule 3 of `Bytes`.
  @inlinable @inline(__always)
  package func bigEndian64(at offset: Int) -> UInt64 {
    let headRest = head.count &- offset
    if headRest <= 0 { return tail.bigEndian64(at: -headRest) }
    if headRest >= 8 { return head.bigEndian64(at: offset) }
    return head.bigEndianHead(at: offset, byteCount: headRest)
      | tail.bigEndianHead(at: 0, byteCount: 8 &- headRest) &>> UInt64(headRest &* 8)
  }

  /// Returns the length of the longest common prefix of both keys.
  package func sharedByteCount(with other: CellKey) -> Int {
    let limit = min(byteCount, other.byteCount)
    var offset = 0
    while offset &+ 8 <= limit {
      let difference = bigEndian64(at: offset) ^ other.bigEndian64(at: offset)
      if difference != 0 { return offset + difference.leadingZeroBitCount / 8 }
      offset &+= 8
    }
    while offset < limit && byte(at: offset) == other.byte(at: offset) { offset &+= 1 }
    return offset
  }

  /// Compares byte by byte: the result is negative, zero or positive, and a prefix orders first.
  @usableFromInline
  package func compare(to other: CellKey) -> Int {
    if head.count == other.head.count {
      let order = head.compare(to: other.head)
      return order == 0 ? tail.compare(to: other.tail) : order
    }
    let limit = min(byteCount, other.byteCount)
    var offset = 0
    while offset &+ 8 <= limit {
      let mine = bigEndian64(at: offset)
      let theirs = other.bigEndian64(at: offset)
      if mine != theirs { return mine < theirs ? -1 : 1 }
      offset &+= 8
    }
    while offset < limit {
      let mine = byte(at: offset)
      let theirs = other.byte(at: offset)
      if mine != theirs { return mine < theirs ? -1 : 1 }
      offset &+= 1
    }
    return byteCount - other.byteCount
  }

  @usableFromInline
  package func hasPrefix(_ prefix: Bytes) -> Bool {
    if prefix.count <= head.count { return head.hasPrefix(prefix) }
    return prefix.hasPrefix(head) && tail.hasPrefix(prefix.dropFirst(head.count))
  }

  /// Returns the key's first `byteCount` bytes without copying them.
  package func first(_ byteCount: Int) -> CellKey {
    CellKey(
      head: head.slice(0, min(byteCount, head.count)),
      tail: tail.slice(0, max(0, byteCount - head.count)))
  }

  /// Copies the key without its first `dropped` bytes to `offset`.
  package func write(dropping dropped: Int, to bytes: MutableBytes, at offset: Int) {
    let headRest = head.dropFirst(min(dropped, head.count))
    let tailRest = tail.dropFirst(min(max(0, dropped - head.count), tail.count))
    bytes.copy(headRest, to: offset)
    bytes.copy(tailRest, to: offset + headRest.count)
  }

  /// Appends the key's first `byteCount` bytes.
  package func append(first byteCount: Int, to buffer: inout ByteBuffer) {
    buffer.append(head.slice(0, min(byteCount, head.count)))
    buffer.append(tail.slice(0, max(0, byteCount - head.count)))
  }

  /// Appends the key without its first `dropped` bytes.
  @usableFromInline
  package func append(dropping dropped: Int, to buffer: inout ByteBuffer) {
    if dropped < head.count {
      buffer.append(head.dropFirst(dropped))
      buffer.append(tail)
    } else {
      buffer.append(tail.dropFirst(dropped - head.count))
    }
  }
}
