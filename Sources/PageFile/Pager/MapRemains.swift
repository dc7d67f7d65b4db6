/// What a version of the page maps has and the next one has not: nodes, and images with the map's
/// reference to each.
///
/// Whoever has it frees it, or hands on what an older snapshot can reach: that is what was made by a
/// commit which the snapshot has.
@safe
package struct MapRemains: @unchecked Sendable {
  // Unchecked: addresses of what nobody writes to any more.
  /// Addresses, which are even, and one more for images.
  private var places: [UInt] = []
  /// How many of them are images.
  private(set) var imageCount = 0

  /// - Parameter count: For how many to make room.
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

  /// Which commit made something.
  private static func edition(_ place: UInt) -> UInt64 {
    let address = unsafe address(place)
    if place & 1 == 0 { return unsafe PageMap.Node.edition(address) }
    return unsafe PageImage(address: address).bytes.uint64(at: PageHeader.lsnOffset)
  }

  /// Hands what was made up to a commit to a snapshot of it.
  mutating func hand(upTo edition: UInt64, to older: inout MapRemains?) {
    let handed = places.filter { Self.edition($0) <= edition }
    let handedImageCount = handed.count { $0 & 1 == 1 }
    older?.places += handed
    older?.imageCount += handedImageCount
    places.removeAll { Self.edition($0) <= edition }
    imageCount -= handedImageCount
  }

  /// - Parameter edition: What commits before this one have made stays: somebody else has it.
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
