package import PageFile

/// The bytes of one file as a value.
///
/// Thousands of crash states are made of one disk, and each differs from the next in a few sectors.
/// So a file is made of chunks that copies share until one of them is written, and each chunk keeps
/// its hash: copying, changing, and hashing a file cost what differs and not what is there.
///
/// A disk and its copies belong to one thread at a time.
package struct FileImage: Sendable {
  private static let chunkByteCount = 4096
  /// Nil for one of zeros, as most of a new WAL file are.
  private var chunks: [Chunk?] = []
  package private(set) var byteCount = 0

  package init() {}

  /// Depends on all bytes and the size.
  package var contentHash: UInt64 {
    var hash = UInt64(byteCount)
    for (index, chunk) in chunks.enumerated() {
      guard let chunk, chunk.contentHash != Chunk.hashOfZeros else { continue }
      hash = SeededRandom.mix(hash ^ chunk.contentHash &+ UInt64(index))
    }
    return hash
  }

  /// Makes the file longer with zeros, or shorter.
  package mutating func resize(to newByteCount: Int) {
    let chunkCount = (newByteCount + Self.chunkByteCount - 1) / Self.chunkByteCount
    if chunkCount < chunks.count { chunks.removeLast(chunks.count - chunkCount) }
    let rest = newByteCount % Self.chunkByteCount
    if newByteCount < byteCount, rest > 0 {
      change(chunkCount - 1) { $0.zero(rest, Self.chunkByteCount - rest) }
    }
    if chunks.count < chunkCount {
      chunks.append(contentsOf: repeatElement(nil, count: chunkCount - chunks.count))
    }
    byteCount = newByteCount
  }

  /// Writes the part `range` of a payload that begins at `offset`, growing the file if it has to.
  package mutating func write(_ payload: Payload, _ range: Range<Int>, at offset: Int) {
    if range.isEmpty { return }
    if offset + range.upperBound > byteCount { resize(to: offset + range.upperBound) }
    var position = range.lowerBound
    while position < range.upperBound {
      let (index, start) = (offset + position).quotientAndRemainder(
        dividingBy: Self.chunkByteCount)
      let count = min(Self.chunkByteCount - start, range.upperBound - position)
      if !payload.isZero {
        change(index) { $0.copy(payload.bytes.slice(position, count), to: start) }
      } else if count == Self.chunkByteCount {
        chunks[index] = nil
      } else if chunks[index] != nil {
        change(index) { $0.zero(start, count) }
      }
      position += count
    }
  }

  /// Copies what there is from `offset` on and says how many bytes that was.
  package func read(into target: MutableBytes, at offset: Int) -> Int {
    let end = min(byteCount, offset + target.count)
    var position = offset
    while position < end {
      let (index, start) = position.quotientAndRemainder(dividingBy: Self.chunkByteCount)
      let count = min(Self.chunkByteCount - start, end - position)
      if let chunk = chunks[index] {
        target.copy(chunk.bytes.slice(start, count), to: position - offset)
      } else {
        target.zero(position - offset, count)
      }
      position += count
    }
    return max(0, end - offset)
  }

  private mutating func change(_ index: Int, _ body: (MutableBytes) -> Void) {
    let isShared = !isKnownUniquelyReferenced(&chunks[index])
    let chunk = chunks[index].map { isShared ? Chunk($0) : $0 } ?? Chunk()
    chunk.change(body)
    chunks[index] = chunk
  }

  /// A part of a file, shared by all images that have it.
  private final class Chunk: @unchecked Sendable {
    // Unchecked: changed only while one image has it, and an image belongs to one thread.
    private var buffer = ByteBuffer(capacity: FileImage.chunkByteCount)
    private var knownHash: UInt64?

    static let hashOfZeros = Chunk().contentHash

    init() { buffer.append(zeros: FileImage.chunkByteCount) }

    init(_ other: Chunk) { buffer.append(other.buffer.bytes) }

    var bytes: Bytes { buffer.bytes }

    var contentHash: UInt64 {
      if let knownHash { return knownHash }
      let hash = Checksum.of(buffer.bytes, seed: 0)
      knownHash = hash
      return hash
    }

    func change(_ body: (MutableBytes) -> Void) {
      body(buffer.mutableBytes)
      knownHash = nil
    }
  }
}

/// What one call has written, kept until a sync or a crash decides about it.
package final class Payload: @unchecked Sendable {
  // Unchecked: never changed.
  private let buffer: ByteBuffer
  /// Whether there is nothing but zeros in it, as in most bytes of a new WAL file.
  let isZero: Bool
  let contentHash: UInt64

  package init(_ bytes: Bytes) {
    var copy = ByteBuffer(capacity: bytes.count)
    copy.append(bytes)
    isZero = Self.isZero(bytes)
    contentHash = isZero ? UInt64(bytes.count) : Checksum.of(bytes, seed: 0)
    buffer = copy
  }

  package var bytes: Bytes { buffer.bytes }
  package var byteCount: Int { buffer.count }

  private static func isZero(_ bytes: Bytes) -> Bool {
    var offset = 0
    while offset + 8 <= bytes.count {
      if bytes.uint64(at: offset) != 0 { return false }
      offset += 8
    }
    while offset < bytes.count {
      if bytes[offset] != 0 { return false }
      offset += 1
    }
    return true
  }
}
