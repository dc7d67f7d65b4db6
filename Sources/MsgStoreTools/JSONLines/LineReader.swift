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

  /// The limit on the length of a line.
  ///
  /// An export has no longer ones: see `ExportedFacts.split(maximumByteCount:)`. A message with 1
  /// MiB of text, 10,000 mentions, and a version of the same size, all of it in escapes, has less.
  package static let maximumLineByteCount = 64 << 20
  private static let firstByteCount = 256 << 10

  /// The buffer that holds the line last returned by `next`.
  package private(set) var buffer: [UInt8]
  /// The number of the line read last; the first is 1.
  package private(set) var lineNumber = 0
  /// The number of bytes of the stream that have been read.
  package private(set) var byteCount = 0

  private let source: Source
  private let limit: Int
  /// True if lines beyond the limit are skipped.
  private let skipsTooLong: Bool
  /// True while the line that is being read is beyond the limit.
  private var isTooLong = false
  /// The number of lines skipped since `takeTooLongCount`.
  private var tooLongCount = 0
  /// The part of the buffer that has not been returned yet.
  private var unread = 0..<0
  private var hasEnded = false

  /// - Parameters:
  ///   - limit: The limit on the length of a line.
  ///   - skipsTooLong: True to skip lines beyond the limit, false to throw.
  ///   - source: The stream.
  package init(
    limit: Int = Self.maximumLineByteCount, skipsTooLong: Bool = false, source: @escaping Source
  ) {
    self.limit = limit
    self.skipsTooLong = skipsTooLong
    self.source = source
    buffer = [UInt8](repeating: 0, count: min(Self.firstByteCount, limit + 2))
  }

  /// Returns the next line that is not empty, as a range of `buffer`; nil at the end of the stream.
  package mutating func next() throws -> Range<Int>? {
    while let line = try nextLine() {
      if !line.isEmpty { return line }
    }
    return nil
  }

  /// Returns the number of lines skipped as too long since the last call.
  package mutating func takeTooLongCount() -> Int {
    defer { tooLongCount = 0 }
    return tooLongCount
  }

  private mutating func nextLine() throws -> Range<Int>? {
    var searched = unread.lowerBound
    while true {
      let unsearched = searched..<unread.upperBound
      if let lineFeed = buffer.firstOffset(of: UInt8(ascii: "\n"), in: unsearched) {
        let line = unread.lowerBound..<lineFeed
        unread = lineFeed + 1..<unread.upperBound
        return try endLine(line)
      }
      searched = unread.upperBound
      if hasEnded {
        guard !unread.isEmpty || isTooLong else { return nil }
        let line = unread
        unread = line.upperBound..<line.upperBound
        return try endLine(line)
      }
      searched -= try readMore()
    }
  }

  /// Returns a line without its end; an empty one for a line to skip.
  private mutating func endLine(_ line: Range<Int>) throws(StoreToolError) -> Range<Int> {
    lineNumber += 1
    let line = lineNumber == 1 ? withoutMark(line) : line
    if isTooLong || line.count > limit {
      guard skipsTooLong else { throw tooLong(lineNumber) }
      isTooLong = false
      tooLongCount += 1
      return line.upperBound..<line.upperBound
    }
    guard let last = line.last, buffer[last] == UInt8(ascii: "\r") else { return line }
    return line.lowerBound..<last
  }

  private func withoutMark(_ line: Range<Int>) -> Range<Int> {
    buffer[line].starts(with: [0xEF, 0xBB, 0xBF]) ? line.lowerBound + 3..<line.upperBound : line
  }

  /// Moves the unread part to the front, or enlarges the buffer if that would gain nothing, and
  /// fills the rest.
  ///
  /// Returns the distance by which everything moved.
  private mutating func readMore() throws -> Int {
    var moved = unread.lowerBound
    if moved > 0 {
      for offset in unread { buffer[offset - moved] = buffer[offset] }
      unread = 0..<unread.count
    }
    // Room for one byte too many and for the end of the line.
    let maximumCount = limit + 2
    if unread.count == maximumCount {
      guard skipsTooLong else { throw tooLong(lineNumber + 1) }
      isTooLong = true
      moved += unread.count
      unread = 0..<0
    } else if unread.count == buffer.count {
      let newCount = min(2 * buffer.count, maximumCount)
      buffer += [UInt8](repeating: 0, count: newCount - buffer.count)
    }
    let readCount = try source(&buffer, unread.upperBound)
    byteCount += readCount
    hasEnded = readCount == 0
    unread = 0..<unread.upperBound + readCount
    return moved
  }

  private func tooLong(_ line: Int) -> StoreToolError {
    .malformedLine(line: line, column: nil, reason: "is longer than \(limit) bytes")
  }
}
