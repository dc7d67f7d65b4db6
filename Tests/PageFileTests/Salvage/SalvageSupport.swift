import PageFile
import PageFileSalvage

extension PageSalvage {
  /// What a tree holds, as far as it can be read.
  func contents(of tree: Int = 0) -> [[UInt8]: [UInt8]] {
    var contents: [[UInt8]: [UInt8]] = [:]
    let cursor = cursor(tree)
    while cursor.next() {
      if cursor.lostReason == nil { contents[cursor.key.array()] = cursor.value.array() }
    }
    return contents
  }
}

extension MemoryDirectory {
  /// Overwrites a range of a file with bytes that mean nothing.
  func damage(_ name: String, _ range: Range<Int>) {
    guard var bytes = self[name] else { return }
    let part = range.clamped(to: 0..<bytes.count)
    bytes.replaceSubrange(part, with: part.map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) })
    self[name] = bytes
  }

  func damageMetaSlot(_ index: Int) {
    let start = MetaSlot.offset(of: index)
    damage("x", start..<start + MetaSlot.byteCount)
  }
}
