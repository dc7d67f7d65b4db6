package import PageFile

/// A cache of one store's dictionaries, shared by all its readers.
///
/// The dictionary of a committed number never changes, so the cache only grows, by at most 64 KiB
/// for each dictionary in use. See docs/message-format.md, D-1 … D-5.
package final class Dictionaries: Sendable {
  private let known = Locked<[UInt32: CompressionDictionary]>([:])

  subscript(number: UInt32) -> CompressionDictionary? {
    number == 0 ? CompressionDictionary.none : known.withLock { $0[number] }
  }

  func insert(_ dictionary: CompressionDictionary) {
    known.withLock { $0[dictionary.version] = dictionary }
  }
}

/// The layout of dictionaries in the settings tree, after the version.
///
///     key      0xFF, number (4), copy (1), piece (2)
///     value    byte count of the dictionary (4), its checksum (8), up to 500 bytes of it
///
/// Numbers begin at 1 and only rise, up to 2^32 − 2. A dictionary is stored twice, in pieces that
/// lie in leaves. One lost page therefore loses none of it, and two lost pages lose only the pieces
/// that both held. Each piece states the size and the checksum of the whole.
package enum DictionaryPieces {
  /// The first byte of the keys, with which no setting's name begins.
  static let mark: UInt8 = 0xFF
  package static let copyCount: UInt8 = 2
  static let headByteCount = 12
  static let maximumByteCount = 500

  static func prefix(_ number: UInt32) -> ByteBuffer {
    var key = ByteBuffer()
    key.append(mark)
    key.append(bigEndian: number)
    return key
  }

  static func key(_ number: UInt32, copy: UInt8, _ index: Int) -> ByteBuffer {
    var key = prefix(number)
    key.append(copy)
    key.append(UInt8(truncatingIfNeeded: index >> 8))
    key.append(UInt8(truncatingIfNeeded: index))
    return key
  }

  static func value(_ index: Int, of bytes: Bytes, _ checksum: UInt64) -> ByteBuffer {
    let start = index * maximumByteCount
    var value = ByteBuffer(capacity: headByteCount + maximumByteCount)
    value.append(littleEndian: UInt32(bytes.count))
    value.append(littleEndian: checksum)
    value.append(bytes.slice(start, min(maximumByteCount, bytes.count - start)))
    return value
  }

  static func count(byteCount: Int) -> Int { (byteCount + maximumByteCount - 1) / maximumByteCount }

  package static func checksum(of bytes: Bytes, number: UInt32) -> UInt64 {
    Checksum.of(bytes, seed: Checksum.seed(UInt64(number)))
  }

  /// The pieces found of a dictionary.
  package struct Found: ~Copyable {
    /// The bytes of the dictionary, with filler in place of lost pieces.
    package internal(set) var bytes: ByteBuffer
    let checksum: UInt64
    /// The pieces missing from all copies.
    let lost: [Int]
  }

  /// Collects the pieces of a dictionary from either copy; returns nil if no piece is found.
  ///
  /// - Parameters:
  ///   - copies: The copies to search; each piece comes from the first that has it.
  ///   - filler: The byte that stands in for lost bytes.
  ///   - value: Looks up the value of a key; returns false if it is missing or lost.
  package static func collect(
    _ number: UInt32, from copies: [UInt8] = [0, 1], filler: UInt8,
    _ value: (Bytes, inout ByteBuffer) -> Bool
  ) -> Found? {
    var bytes = ByteBuffer(capacity: CompressionDictionary.maximumByteCount)
    var head: (byteCount: Int, checksum: UInt64)?
    var lost: [Int] = []
    var index = 0
    let maximumPieceCount = count(byteCount: CompressionDictionary.maximumByteCount)
    while index < head.map({ count(byteCount: $0.byteCount) }) ?? maximumPieceCount {
      let start = index * maximumByteCount
      for _ in bytes.count..<max(bytes.count, start) { bytes.append(filler) }
      var isFound = false
      for copy in copies where !isFound {
        let key = key(number, copy: copy, index)
        var piece = ByteBuffer(capacity: headByteCount + maximumByteCount)
        guard value(key.bytes, &piece), piece.count > headByteCount,
          case let byteCount = Int(piece.bytes.uint32(at: 0)),
          byteCount > start, byteCount <= CompressionDictionary.maximumByteCount,
          case let stated = (byteCount: byteCount, checksum: piece.bytes.uint64(at: 4)),
          head.map({ $0 == stated }) ?? true,
          piece.count - headByteCount == min(maximumByteCount, byteCount - start)
        else { continue }
        head = stated
        bytes.append(piece.bytes.dropFirst(headByteCount))
        isFound = true
      }
      if !isFound { lost.append(index) }
      index += 1
    }
    guard let head else { return nil }
    while bytes.count < head.byteCount { bytes.append(filler) }
    return Found(
      bytes: bytes, checksum: head.checksum,
      lost: lost.filter { $0 < count(byteCount: head.byteCount) })
  }

  /// Returns the whole dictionary, or nil if any of it is lost.
  ///
  /// A piece that exists but has wrong content does not count as lost; in that case the copies are
  /// tried in the other order.
  static func assemble(
    _ number: UInt32, _ value: (Bytes, inout ByteBuffer) -> Bool
  ) -> CompressionDictionary? {
    assemble(number, from: [0, 1], value) ?? assemble(number, from: [1, 0], value)
  }

  package static func assemble(
    _ number: UInt32, from copies: [UInt8], _ value: (Bytes, inout ByteBuffer) -> Bool
  ) -> CompressionDictionary? {
    guard let found = collect(number, from: copies, filler: 0, value), found.lost.isEmpty,
      checksum(of: found.bytes.bytes, number: number) == found.checksum
    else { return nil }
    return CompressionDictionary(found.bytes.bytes, version: number)
  }
}
