/// A sector: the part of a file that a power cut does not take apart.
package enum Sector {
  package static let byteCount = 512
}

/// What a call has changed in the page cache and no sync has yet made durable.
///
/// A power cut keeps or loses it in *units*: each sector of a write, each change of a size, each
/// change of a name. The units of all pending operations are numbered in the order of the calls.
package struct PendingOperation: Sendable {
  package enum Change: Sendable {
    case write(offset: Int, Payload)
    case size(Int)
    case link(name: String, inode: Int)
    case unlink(name: String)
  }

  /// The file it belongs to; nil for a name, which belongs to the directory.
  package let inode: Int?
  package let change: Change

  package var unitCount: Int {
    guard case .write(let offset, let payload) = change, payload.byteCount > 0 else { return 1 }
    let last = (offset + payload.byteCount - 1) / Sector.byteCount
    return last - offset / Sector.byteCount + 1
  }

  /// The bytes of a write that lie in some of its sectors.
  func byteRange(ofUnits units: Range<Int>) -> Range<Int> {
    guard case .write(let offset, let payload) = change else { return 0..<0 }
    let lead = offset % Sector.byteCount
    return max(
      0, units.lowerBound * Sector.byteCount - lead)..<min(
        payload.byteCount, units.upperBound * Sector.byteCount - lead)
  }

  var contentHash: UInt64 {
    switch change {
    case .write(let offset, let payload):
      SeededRandom.mix(SeededRandom.mix(UInt64(offset)) ^ payload.contentHash)
    case .size(let byteCount): SeededRandom.mix(UInt64(byteCount) ^ 1 << 60)
    case .link(let name, let inode): name.contentHash ^ SeededRandom.mix(UInt64(inode))
    case .unlink(let name): ~name.contentHash
    }
  }
}

extension String {
  /// Swift's own hashes differ from process to process.
  var contentHash: UInt64 {
    utf8.reduce(UInt64(utf8.count)) { SeededRandom.mix($0 ^ UInt64($1)) }
  }
}
