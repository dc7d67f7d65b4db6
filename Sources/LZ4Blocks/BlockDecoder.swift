package import PageFile

/// Decodes LZ4 blocks.
///
/// A block is a series of sequences, each a token, literals, and a match. The upper half of the
/// token is the number of literals, the lower half the length of the match less 4; a half of 15
/// goes on in the bytes behind, as long as they are 255. A match is named by its distance, two
/// bytes. The last sequence ends behind its literals. A text of no bytes is one token of zero.
///
///  1. A match begins in the dictionary or in what is decoded so far, at most 65,535 bytes back.
///  2. The last five bytes are literals, and the last match begins at least 12 bytes before the
///     end. Every encoder holds to that; liblz4 demands it too, save for some short sequences.
package enum BlockDecoder {
  /// Decodes a block into `target`.
  ///
  /// Returns false if the bytes are not a block for exactly the size of `target` made with this
  /// dictionary; `target` then has undefined content. Never traps. Only the last 65,535 bytes of a
  /// dictionary can be referred to. `target` must not overlap the other two.
  package static func decode(
    _ block: Bytes, dictionary: Bytes, into target: MutableBytes
  ) -> Bool {
    // Unsafe: the windows have the sizes of the buffers, and do not outlive this call.
    unsafe block.withUnsafeBytes { block in
      unsafe dictionary.withUnsafeBytes { dictionary in
        unsafe target.withUnsafeMutableBytes { target in
          let decoding = unsafe Decoding(
            block: Window(block), dictionary: Window(dictionary), target: MutableWindow(target))
          return decoding.run()
        }
      }
    }
  }
}

/// The three buffers of one call.
private struct Decoding {
  let block: Window
  let dictionary: Window
  let target: MutableWindow

  /// The room that a sequence without further bytes of length may take: 14 literals, copied as a
  /// vector of 16, and the distance; 14 literals, a match of 18, and the last five bytes.
  private static let shortInput = 18
  private static let shortOutput = 37

  func run() -> Bool {
    let (inputCount, outputCount) = (block.count, target.count)
    let (shortInputEnd, shortOutputEnd) =
      (inputCount &- Self.shortInput, outputCount &- Self.shortOutput)
    var input = 0
    var output = 0
    while input < inputCount {
      // Unsafe: `input` is below the end.
      let token = Int(unsafe block.byte(at: input))
      input &+= 1
      let literalCount = token &>> 4
      var matchCount = (token & 15) &+ 4
      let isShort = literalCount < 15 && input <= shortInputEnd && output <= shortOutputEnd
      if isShort {
        // Unsafe: one comparison each has shown that there is room for the vector on both sides,
        // and for the distance behind.
        unsafe target.store(block.vector(at: input), at: output)
        input &+= literalCount
        output &+= literalCount
      } else {
        guard let end = copyLiterals(literalCount, from: &input, to: output) else { return false }
        output = end
        if input == inputCount { return output == outputCount && (output > 0 || token == 0) }
        guard inputCount &- input >= 2, outputCount &- output >= 12 else { return false }
      }
      // Unsafe: two bytes are there.
      let distance = Int(unsafe block.word16(at: input))
      input &+= 2
      let start = output &- distance
      if isShort && matchCount < 19 && distance >= 16 && start >= 0 {
        // Unsafe: there is room for two vectors; none of them overlaps where it goes.
        let target = target
        unsafe target.store(target.readOnly.vector(at: start), at: output)
        unsafe target.store(target.readOnly.word16(at: start &+ 16).littleEndian, at: output &+ 16)
        output &+= matchCount
        continue
      }
      if matchCount == 19 {
        guard let more = length(from: &input) else { return false }
        matchCount &+= more
      }
      guard matchCount <= outputCount &- output &- 5, distance > 0 else { return false }
      if start >= 0 {
        repeatBytes(distance: distance, to: output, byteCount: matchCount)
      } else {
        guard copyDictionary(back: 0 &- start, to: output, byteCount: matchCount) else {
          return false
        }
      }
      output &+= matchCount
    }
    return false
  }

  /// Returns the further bytes of a length, or nil if the block ends within them.
  @inline(__always)
  private func length(from input: inout Int) -> Int? {
    var length = 0
    while input < block.count {
      // Unsafe: `input` is below the end. The sum stays below 255 times the size of the block.
      let byte = Int(unsafe block.byte(at: input))
      input &+= 1
      length &+= byte
      if byte != 255 { return length }
    }
    return nil
  }

  /// Copies literals; returns their end, or nil if either side has less room.
  @inline(__always)
  private func copyLiterals(_ half: Int, from input: inout Int, to output: Int) -> Int? {
    var count = half
    if half == 15 {
      guard let more = length(from: &input) else { return nil }
      count &+= more
    }
    let (inputRoom, outputRoom) = (block.count &- input, target.count &- output)
    guard count <= inputRoom, count <= outputRoom else { return nil }
    if count &+ 16 <= min(inputRoom, outputRoom) {
      copyVectors(block, at: input, to: output, byteCount: count)
    } else {
      // Unsafe: both sides have the room.
      unsafe target.copy(block, at: input, to: output, byteCount: count)
    }
    input &+= count
    return output &+ count
  }

  /// Copies whole vectors, up to 15 bytes more than asked for; at least one.
  @inline(__always)
  private func copyVectors(_ source: Window, at start: Int, to output: Int, byteCount: Int) {
    var done = 0
    repeat {
      // Unsafe: the caller has shown that both sides have room for 16 bytes more.
      unsafe target.store(source.vector(at: start &+ done), at: output &+ done)
      done &+= 16
    } while done < byteCount
  }

  /// Repeats what lies `distance` bytes back; the match may reach into what it makes.
  ///
  /// At least five bytes of `target` follow it.
  @inline(__always)
  private func repeatBytes(distance: Int, to output: Int, byteCount: Int) {
    let readable = target.readOnly
    if distance >= 16 && byteCount &+ 16 <= target.count &- output {
      return copyVectors(readable, at: output &- distance, to: output, byteCount: byteCount)
    }
    repeatNearBytes(distance: distance, to: output, byteCount: byteCount)
  }

  /// Repeats bytes at a distance at which vectors would overlap, or close to the end.
  @inline(never)
  private func repeatNearBytes(distance: Int, to output: Int, byteCount: Int) {
    let readable = target.readOnly
    var (offset, period) = (output, distance)
    let end = output &+ byteCount
    if period < 8 {
      // Eight bytes of the pattern, and then its multiple that words do not overlap.
      let head = min(output &+ 8, end)
      while offset < head {
        unsafe target.store(readable.byte(at: offset &- period), at: offset)
        offset &+= 1
      }
      period &*= (7 &+ period) / period
    }
    while end &- offset >= 8 {
      unsafe target.store(readable.word64(at: offset &- period).littleEndian, at: offset)
      offset &+= 8
    }
    while offset < end {
      unsafe target.store(readable.byte(at: offset &- period), at: offset)
      offset &+= 1
    }
  }

  /// Copies a match that begins `back` bytes before the end of the dictionary, and may go on at the
  /// start of the target.
  @inline(__always)
  private func copyDictionary(back: Int, to output: Int, byteCount: Int) -> Bool {
    guard back <= dictionary.count else { return false }
    let start = dictionary.count &- back
    if byteCount &+ 16 <= min(back, target.count &- output) {
      copyVectors(dictionary, at: start, to: output, byteCount: byteCount)
      return true
    }
    let head = min(back, byteCount)
    // Unsafe: the caller has shown that the target has room for the match.
    unsafe target.copy(dictionary, at: start, to: output, byteCount: head)
    if head < byteCount {
      let middle = output &+ head
      repeatBytes(distance: middle, to: middle, byteCount: byteCount &- head)
    }
    return true
  }
}
