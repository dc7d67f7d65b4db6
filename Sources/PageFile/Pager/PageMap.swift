/// A persistent map from page number to page image: what is committed in one WAL file and not yet in
/// the data file.
///
/// A radix tree over six bits of the page number per level, with nodes that hold only the children
/// they have (Bagwell, "Ideal Hash Trees", 2001, without the hash). A change copies the nodes on one
/// path and shares the rest, so a snapshot is one root address.
///
///     node  offset  size  field
///                0     8  edition: the commit that made the node and may still write in it
///                8     8  bitmap of children
///               16     8  room for children
///               24   8·n  children, in the order of their bits
///
///  1. A node is written only by the edition that made it, before its map is shared.
///  2. A child is a node, or on the lowest level an image or `freedMark`.
///  3. Versions follow each other in one line. What a version has and the next one has not is handed
///     to `MapRemains`, once, and goes when no snapshot can reach it any more. So nodes need no count
///     of who refers to them, and a commit need not touch the count of every child of a node that it
///     copies.
@safe
package struct PageMap: @unchecked Sendable {
  // Unchecked: rule 1; what is shared is immutable.
  private var root: UnsafeMutableRawPointer?
  private var levels = 0
  /// How many page numbers have an entry.
  package private(set) var count = 0
  /// How many of the entries are images; the others say that a page is freed.
  private(set) var imageCount = 0

  package init() { unsafe root = nil }

  /// The entry of a page that the log frees: nothing is at this address.
  private static var freedMark: UnsafeMutableRawPointer {
    unsafe UnsafeMutableRawPointer(bitPattern: 1).unsafelyUnwrapped
  }

  package enum Entry {
    case absent
    case image(PageImage)
    case freed
  }

  package var isEmpty: Bool { count == 0 }

  /// What the map says of a page.
  ///
  /// Valid while somebody keeps the map.
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

  /// Whether the map holds a version of a page.
  @inline(never)
  func hasImage(of number: PageNumber) -> Bool {
    if case .image = self[number] { true } else { false }
  }

  /// Sets or replaces an entry; nil says that the page is freed.
  ///
  /// The map takes over the caller's reference to the image.
  /// - Parameters:
  ///   - edition: The commit that changes the map, greater than all before.
  ///   - remains: Gets what the version before has and this one has not; nil for a map that nobody
  ///     else has seen, where that goes at once.
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

  /// Sets an entry of a map that nobody else has seen.
  package mutating func set(_ number: PageNumber, to image: PageImage?) {
    var none: MapRemains?
    set(number, to: image, edition: 0, &none)
  }

  /// Frees a map that nobody else has seen, or can see any more.
  package func free() {
    var remains = MapRemains()
    collect(to: &remains)
    remains.free()
  }

  /// Hands over all there is: no later version has any of it.
  ///
  /// - Parameter edition: What commits before this one have made is left out, as an earlier version has
  ///   it.
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

  /// The node to use in place of `node`.
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

  /// Calls `body` for every entry, in the order of page numbers; nil means freed.
  ///
  /// - Parameter edition: Only for nodes that this commit or a later one has made.
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

    /// The node itself when this edition made it, else a copy.
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

    /// A node of this edition with room for one more child.
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

    /// Adds a child where the bitmap has no bit for it yet.
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
