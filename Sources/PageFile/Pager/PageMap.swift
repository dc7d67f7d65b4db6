/// A persistent map from page number to page image: the pages committed in one WAL file and not yet
/// moved to the data file.
///
/// It is a radix tree over six bits of the page number per level, whose nodes store only the
/// children they have (Bagwell, "Ideal Hash Trees", 2001, without the hash). A change copies the
/// nodes on one path and shares the rest, so a snapshot is one root address.
///
///     node  offset  size  field
///                0     8  edition: the commit that made the node and may still write in it
///                8     8  bitmap of children
///               16     8  room for children
///               24   8·n  children, in the order of their bits
///
///  1. A node is written only by the edition that made it, before its map is shared.
///  2. A child is a node, or on the lowest level an image or `freedMark`.
///  3. Versions follow each other in one line. Parts of a version that the next one lacks are
///     handed to `MapRemains`, once, and are freed when no snapshot can reach them any more. So
///     nodes need no reference count, and a commit need not touch the count of every child of a
///     node that it copies.
@safe
package struct PageMap: @unchecked Sendable {
  // Unchecked: rule 1; shared nodes are immutable.
  private var root: UnsafeMutableRawPointer?
  private var levels = 0
  /// The number of page numbers with an entry.
  package private(set) var count = 0
  /// The number of entries that are images; the others mark freed pages.
  private(set) var imageCount = 0

  package init() { unsafe root = nil }

  /// The entry of a page that the log frees; this address is never dereferenced.
  private static var freedMark: UnsafeMutableRawPointer {
    unsafe UnsafeMutableRawPointer(bitPattern: 1).unsafelyUnwrapped
  }

  package enum Entry {
    case absent
    case image(PageImage)
    case freed
  }

  package var isEmpty: Bool { count == 0 }

  /// The entry of a page.
  ///
  /// Valid while the map is kept alive.
  @inline(__always)
  package subscript(number: PageNumber) -> Entry {
    guard var node = unsafe root else { return .absent }
    var shift = (levels - 1) * 6
    if UInt64(number.rawValue) >> UInt64(shift + 6) != 0 { return .absent }
    while true {
      let bit: UInt64 = 1 << UInt64(number.rawValue >> UInt32(shift) & 63)
      let bitmap = unsafe Node.bitmap(node)
      if bitmap & bit == 0 { return .absent }
      let child = unsafe Node.children(node)[(bitmap & (bit - 1)).nonzeroBitCount]
      if shift == 0 {
        return unsafe child == Self.freedMark ? .freed : .image(PageImage(address: child))
      }
      unsafe node = child
      shift -= 6
    }
  }

  /// Returns true if the map holds an image of a page.
  @inline(never)
  func hasImage(of number: PageNumber) -> Bool {
    if case .image = self[number] { true } else { false }
  }

  /// Sets or replaces an entry; nil marks the page as freed.
  ///
  /// The map takes over the caller's reference to the image.
  /// - Parameters:
  ///   - edition: The commit that changes the map, greater than all before.
  ///   - remains: Collects the parts that the previous version has and this one lacks. Nil for a
  ///     map that is not shared, where they are freed at once.
  package mutating func set(
    _ number: PageNumber, to image: PageImage?, edition: UInt64, _ remains: inout MapRemains?
  ) {
    let value = unsafe image?.address ?? Self.freedMark
    if image != nil { imageCount += 1 }
    while levels == 0 || UInt64(number.rawValue) >> UInt64(levels * 6) != 0 { addLevel(edition) }
    if let root = unsafe root {
      unsafe self.root = insert(
        number, value, into: root, level: levels - 1, edition: edition, &remains)
    }
  }

  /// Sets an entry of a map that is not shared.
  package mutating func set(_ number: PageNumber, to image: PageImage?) {
    var none: MapRemains?
    set(number, to: image, edition: 0, &none)
  }

  /// Frees a map that is not shared, or is no longer shared.
  package func free() {
    var remains = MapRemains()
    collect(to: &remains)
    remains.free()
  }

  /// Collects all parts of the map; no later version has any of them.
  ///
  /// - Parameter edition: Parts made by commits before this one are left out, because an earlier
  ///   version has them.
  package func collect(since edition: UInt64 = 0, to remains: inout MapRemains) {
    if let root = unsafe root { unsafe collect(root, levels - 1, since: edition, to: &remains) }
  }

  private func collect(
    _ node: UnsafeMutableRawPointer, _ level: Int, since edition: UInt64,
    to remains: inout MapRemains
  ) {
    if unsafe Node.edition(node) < edition { return }
    for index in 0..<(unsafe Node.bitmap(node).nonzeroBitCount) {
      let child = unsafe Node.children(node)[index]
      if level > 0 {
        unsafe collect(child, level - 1, since: edition, to: &remains)
      } else if unsafe child != Self.freedMark {
        let image = unsafe PageImage(address: child)
        if edition == 0 || image.lsn.rawValue >= edition { remains.add(image) }
      }
    }
    unsafe remains.add(node: node)
  }

  private mutating func addLevel(_ edition: UInt64) {
    let node = unsafe Node.make(room: 4, edition: edition)
    if let root = unsafe root { unsafe Node.insert(root, bit: 1, into: node) }
    unsafe root = node
    levels += 1
  }

  /// Inserts an entry below `node` and returns the node to use in its place.
  private mutating func insert(
    _ number: PageNumber, _ value: UnsafeMutableRawPointer,
    into node: UnsafeMutableRawPointer, level: Int, edition: UInt64,
    _ remains: inout MapRemains?
  ) -> UnsafeMutableRawPointer {
    let bit: UInt64 = 1 << UInt64(number.rawValue >> UInt32(level * 6) & 63)
    let node = unsafe Node.editable(node, edition: edition, &remains)
    if unsafe Node.bitmap(node) & bit == 0 {
      let child: UnsafeMutableRawPointer
      if level == 0 {
        unsafe child = value
        count += 1
      } else {
        unsafe child = insert(
          number, value, into: Node.make(room: 4, edition: edition), level: level - 1,
          edition: edition, &remains)
      }
      let roomy = unsafe Node.withRoom(node, edition: edition)
      unsafe Node.insert(child, bit: bit, into: roomy)
      return unsafe roomy
    }
    let index = unsafe (Node.bitmap(node) & (bit - 1)).nonzeroBitCount
    let child = unsafe Node.children(node)[index]
    if level == 0 {
      if unsafe child != Self.freedMark {
        imageCount -= 1
        let image = unsafe PageImage(address: child)
        if remains?.add(image) == nil { image.release() }
      }
      unsafe Node.children(node)[index] = value
    } else {
      unsafe Node.children(node)[index] = insert(
        number, value, into: child, level: level - 1, edition: edition, &remains)
    }
    return unsafe node
  }

  /// Calls `body` for every entry, in the order of page numbers; a nil image means freed.
  ///
  /// - Parameter edition: Visits only nodes made by this commit or a later one.
  package func forEach<E: Error>(
    since edition: UInt64 = 0, _ body: (PageNumber, PageImage?) throws(E) -> Void
  ) throws(E) {
    if let root = unsafe root {
      unsafe try forEach(in: root, level: levels - 1, base: 0, since: edition, body)
    }
  }

  private func forEach<E: Error>(
    in node: UnsafeMutableRawPointer, level: Int, base: UInt32, since edition: UInt64,
    _ body: (PageNumber, PageImage?) throws(E) -> Void
  ) throws(E) {
    if unsafe Node.edition(node) < edition { return }
    var bitmap = unsafe Node.bitmap(node)
    var index = 0
    while bitmap != 0 {
      let number = base | UInt32(bitmap.trailingZeroBitCount) << UInt32(level * 6)
      let child = unsafe Node.children(node)[index]
      if level > 0 {
        unsafe try forEach(in: child, level: level - 1, base: number, since: edition, body)
      } else {
        unsafe try body(
          PageNumber(number), child == Self.freedMark ? nil : PageImage(address: child))
      }
      bitmap &= bitmap - 1
      index += 1
    }
  }

  /// The operations on one node.
  enum Node {
    @inline(__always)
    static func bitmap(_ node: UnsafeMutableRawPointer) -> UInt64 {
      unsafe node.load(fromByteOffset: 8, as: UInt64.self)
    }

    @inline(__always)
    static func children(
      _ node: UnsafeMutableRawPointer
    ) -> UnsafeMutablePointer<UnsafeMutableRawPointer> {
      unsafe (node + 24).assumingMemoryBound(to: UnsafeMutableRawPointer.self)
    }

    static func edition(_ node: UnsafeMutableRawPointer) -> UInt64 {
      unsafe node.load(as: UInt64.self)
    }

    static func make(room: Int, edition: UInt64) -> UnsafeMutableRawPointer {
      let node = unsafe Memory.allocate(24 + room * 8)
      unsafe node.storeBytes(of: edition, as: UInt64.self)
      unsafe node.storeBytes(of: 0, toByteOffset: 8, as: UInt64.self)
      unsafe node.storeBytes(of: UInt64(room), toByteOffset: 16, as: UInt64.self)
      return unsafe node
    }

    /// Returns the node itself if this edition made it, otherwise a copy.
    static func editable(
      _ node: UnsafeMutableRawPointer, edition: UInt64, _ remains: inout MapRemains?
    ) -> UnsafeMutableRawPointer {
      if unsafe self.edition(node) == edition { return unsafe node }
      let count = unsafe bitmap(node).nonzeroBitCount
      let copy = unsafe make(room: min(64, count + 2), edition: edition)
      unsafe copy.storeBytes(of: bitmap(node), toByteOffset: 8, as: UInt64.self)
      unsafe children(copy).initialize(from: children(node), count: count)
      unsafe remains?.add(node: node)
      return unsafe copy
    }

    /// Returns the node, or a larger replacement, with room for one more child.
    static func withRoom(
      _ node: UnsafeMutableRawPointer, edition: UInt64
    ) -> UnsafeMutableRawPointer {
      let count = unsafe bitmap(node).nonzeroBitCount
      let room = Int(unsafe node.load(fromByteOffset: 16, as: UInt64.self))
      if count < room { return unsafe node }
      let larger = unsafe make(room: min(64, room * 2), edition: edition)
      unsafe larger.storeBytes(of: bitmap(node), toByteOffset: 8, as: UInt64.self)
      unsafe children(larger).update(from: children(node), count: count)
      unsafe Memory.free(node)
      return unsafe larger
    }

    /// Inserts a child whose bit is not yet set in the bitmap.
    static func insert(
      _ child: UnsafeMutableRawPointer, bit: UInt64, into node: UnsafeMutableRawPointer
    ) {
      let bitmap = unsafe bitmap(node)
      let index = (bitmap & (bit - 1)).nonzeroBitCount
      let children = unsafe children(node)
      for later in stride(from: bitmap.nonzeroBitCount, to: index, by: -1) {
        unsafe children[later] = children[later - 1]
      }
      unsafe children[index] = child
      unsafe node.storeBytes(of: bitmap | bit, toByteOffset: 8, as: UInt64.self)
    }
  }
}
