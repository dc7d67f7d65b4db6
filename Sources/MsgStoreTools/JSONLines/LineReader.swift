import PageFile

/// Splits a stream of bytes into lines, however it arrives, in bounded memory.
///
/// Lines end with a line feed, with or without a carriage return before it; the last one may end
/// with the stream. Empty lines are skipped, but counted. A line stays in `buffer` until the next
/// one is requested. A byte order mark at the beginning of the stream is skipped, as RFC 8259,
/// section 8.1 allows.
package struct LineReader: ~Copyable {
  /// Reads more bytes of the stream into the buffer at an offset and returns their number; 0 means
  /// that the stream has ended.
  package typealias Source = (_ buffer: inout [UInt8], _ offset: Int) throws -> Int

  /// The limit on the length of a line: a message has at most 1 MiB of text, six times that in
  /// escapes.
  package static let maximumLineByteCount = 16 << 20
  private static let firstByteCount = 256 << 10

  /// The buffer that holds the line last returned by `next`.
  package private(set) var buffer: [UInt8]
  /// The number of the line read last; the first is 1.
  package private(set) var lineNumber = 0
  /// The number of bytes of the stream that have been read.
  package private(set) var byteCount = 0

  private let source: Source
  /// The part of the buffer that has not been returned yet.
  private var unread = 0..<0
  private var hasEnded = false

  package init(source: @escaping Source) {
    self.source = source
    buffer = [UInt8](repeating: 0, count: Self.firstByteCount)
  }

  /// Returns the next line that is not empty, as a range of `buffer`; nil at the end of the stream.
  package mutating func next() throws -> Range<Int>? {
    while let line = try nextLine() {
      if !line.isEmpty { return line }
    }
    return nil
  }

  private mutating func nextLine() throws -> Range<Int>? {
    var searched = unread.lowerBound
    while true {
      let unsearched = searched..<unread.upperBound
      if let lineFeed = buffer.firstOffset(of: UInt8(ascii: "\n"), in: unsearched) {
        let line = unread.lowerBound..<lineFeed
        unread = lineFeed + 1..<unread.upperBound
        lineNumber += 1
        return try checked(lineNumber == 1 ? withoutMark(line) : line)
      }
      searched = unread.upperBound
      if hasEnded {
        guard !unread.isEmpty else { return nil }
        let line = unread
        unread = line.upperBound..<line.upperBound
        lineNumber += 1
        return try checked(lineNumber == 1 ? withoutMark(line) : line)
      }
      searched -= try readMore()
    }
  }

  private func withoutMark(_ line: Range<Int>) -> Range<Int> {
    buffer[line].starts(with: [0xEF, 0xBB, 0xBF]) ? line.lowerBound + 3..<line.upperBound : line
  }

  private func checked(_ line: Range<Int>) throws(StoreToolError) -> Range<Int> {
    guard line.count <= Self.maximumLineByteCount else { throw tooLong(lineNumber) }
    guard let last = line.last, buffer[last] == UInt8(ascii: "\r") else { return line }
    return line.lowerBound..<last
  }

  /// Moves the unread part to the front, or enlarges the buffer if that would gain nothing, and
  /// fills the rest.
  ///
  /// Returns the distance by which everything moved.
  private mutating func readMore() throws -> Int {
    let moved = unread.lowerBound
    if moved > 0 {
      for offset in unread { buffer[offset - moved] = buffer[offset] }
      unread = 0..<unread.count
    }
    if unread.count == buffer.count {
      guard unread.count <= Self.maximumLineByteCount else { throw tooLong(lineNumber + 1) }
      buffer += [UInt8](repeating: 0, count: buffer.count)
    }
    let readCount = try source(&buffer, unread.upperBound)
    byteCount += readCount
    hasEnded = readCount == 0
    unread = 0..<unread.upperBound + readCount
    return moved
  }

  private func tooLong(_ line: Int) -> StoreToolError {
    .malformedLine(
      line: line, column: nil, reason: "is longer than \(Self.maximumLineByteCount) bytes")
  }
}
