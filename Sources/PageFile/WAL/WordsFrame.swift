/// The frame of a commit that changes words.
///
/// See docs/page-file-format.md, W-23.
///
///     varint   0, where other frames have a page number
///     byte     kind: 5
///     varint   byte count of the rest
///     entries  each: byte number of the word, varint its new value
///
///  1. At most one in a commit.
///  2. Words ascend, so none is there twice. Those that are not there keep their values.
package enum WordsFrame {
  /// Appends the frame that turns the words of one commit into those of the next.
  package static func append(from old: Words, to new: Words, to frames: inout ByteBuffer) {
    var entries = ByteBuffer(capacity: 64)
    for index in 0..<Words.count where old[index] != new[index] {
      entries.append(UInt8(index))
      entries.append(varint: new[index])
    }
    frames.append(varint: 0)
    frames.append(PagePatch.Kind.words.rawValue)
    frames.append(varint: UInt64(entries.count))
    frames.append(entries.bytes)
  }

  /// Returns the words that a frame names; nil if its bytes are malformed.
  package static func entries(_ frame: PagePatch.Frame) -> [(index: Int, word: UInt64)]? {
    var entries: [(index: Int, word: UInt64)] = []
    var reader = ByteReader(frame.ranges)
    var next = 0
    while !reader.isAtEnd {
      guard let index = reader.byte().map(Int.init), (next..<Words.count).contains(index),
        let word = reader.varint()
      else { return nil }
      entries.append((index, word))
      next = index + 1
    }
    return entries.isEmpty ? nil : entries
  }

  /// Sets the words that a frame names; returns false, and changes nothing, if it is malformed.
  package static func apply(_ frame: PagePatch.Frame, to words: inout Words) -> Bool {
    guard let entries = entries(frame) else { return false }
    for (index, word) in entries { words[index] = word }
    return true
  }
}
