/// The parts of a version of the page maps that the next version lacks: nodes, and images with the
/// map's reference to each.
///
/// The owner frees them, or hands on the parts that an older snapshot can reach: those made by a
/// commit that the snapshot includes.
@safe
package struct MapRemains: @unchecked Sendable {
  // Unchecked: addresses of memory that is not written to any more.
  /// The addresses of the parts, which are even; those of images are one higher.
  private var places: [UInt] = []
  /// The number of images among them.
  private(set) var imageCount = 0

  /// Creates an empty collection.
  /// - Parameter count: The number of parts to reserve room for.
  package init(roomFor count: Int = 0) { if count > 0 { places.reserveCapacity(count) } }

  package var isEmpty: Bool { places.isEmpty }

  mutating func add(_ image: PageImage) {
    places.append(UInt(bitPattern: unsafe image.address) | 1)
    imageCount += 1
  }

  @unsafe
  mutating func add(node: UnsafeMutableRawPointer) { places.append(UInt(bitPattern: node)) }

  private static func address(_ place: UInt) -> UnsafeMutableRawPointer {
    unsafe UnsafeMutableRawPointer(bitPattern: place & ~1).unsafelyUnwrapped
  }

  /// Returns the commit that made a part.
  private static func edition(_ place: UInt) -> UInt64 {
    let address = unsafe address(place)
    if place & 1 == 0 { return unsafe PageMap.Node.edition(address) }
    return unsafe PageImage(address: address).bytes.uint64(at: PageHeader.lsnOffset)
  }

  /// Hands the parts made up to a commit to an older snapshot that includes it.
  mutating func hand(upTo edition: UInt64, to older: inout MapRemains?) {
    let handed = places.filter { Self.edition($0) <= edition }
    let handedImageCount = handed.count { $0 & 1 == 1 }
    older?.places += handed
    older?.imageCount += handedImageCount
    places.removeAll { Self.edition($0) <= edition }
    imageCount -= handedImageCount
  }

  /// Frees all parts.
  /// - Parameter edition: Parts made by commits before this one are kept, because another owner has
  ///   them.
  package consuming func free(since edition: UInt64 = 0) {
    for place in places {
      if edition > 0 && Self.edition(place) < edition { continue }
      let address = unsafe Self.address(place)
      if place & 1 == 0 {
        unsafe Memory.free(address)
      } else {
        unsafe PageImage(address: address).release()
      }
    }
  }
}
