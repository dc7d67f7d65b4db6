/// The identity of one life of a WAL file.
///
/// See docs/page-file-format.md, M-8 and W-3.
///
/// The counter orders two lives. The random part distinguishes two lives that got the same counter
/// because a copy of the store was restored in between.
package struct Generation: Sendable, Equatable, CustomStringConvertible {
  package static let byteCount = 16

  package let counter: UInt64
  package let random: UInt64

  package init(counter: UInt64, random: UInt64) {
    self.counter = counter
    self.random = random
  }

  /// Creates a generation later than all up to `counter`.
  package init(after counter: UInt64, random: UInt64) {
    let random = Defect.generationWithoutRandom.isPlanted ? 0 : random
    self.init(counter: counter + 1, random: random)
  }

  package static var none: Generation { Generation(counter: 0, random: 0) }

  package var description: String {
    let digits = String(random, radix: 16)
    return "\(counter)-\(String(repeating: "0", count: 16 - digits.count))\(digits)"
  }
}

/// A store's random identifier, part of nearly every checksum so that bytes of another store never
/// pass as valid.
///
/// See docs/page-file-format.md, M-5 and B-6.
package struct StoreID: Sendable, Equatable, CustomStringConvertible {
  package static let byteCount = 16

  package let high: UInt64
  package let low: UInt64

  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  package var description: String {
    [high, low].map { word in
      let digits = String(word, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }
}

extension ByteBuffer {
  mutating func append(_ generation: Generation) {
    append(littleEndian: generation.counter)
    append(littleEndian: generation.random)
  }

  mutating func append(_ id: StoreID) {
    append(littleEndian: id.high)
    append(littleEndian: id.low)
  }
}

extension ByteReader {
  mutating func generation() -> Generation? {
    guard let counter = uint64(), let random = uint64() else { return nil }
    return Generation(counter: counter, random: random)
  }

  package mutating func storeID() -> StoreID? {
    guard let high = uint64(), let low = uint64() else { return nil }
    return StoreID(high: high, low: low)
  }
}
