import BlockTrials
import MsgStore
import PageFile

/// Decompresses blocks that anybody may have made.
///
///  1. A block gives exactly as many bytes as were asked for, or none.
///  2. They are those that the description of the format says.
enum CompressedText {
  static func run(_ input: inout FuzzInput) throws(BrokenPromise) {
    let byteCount = Int(input.number() & 0x3F_FFFF)
    let block = input.rest()
    var buffer = ByteBuffer()
    let isTaken = Bytes.with(block) { block in
      TextCompression.decompress(block, byteCount: byteCount, to: &buffer)
    }
    try promise(buffer.count == (isTaken ? byteCount : 0), "a block gives too much or too little")
    if isTaken {
      let described = DescribedBlock(block, limit: byteCount)
      // liblz4 takes offsets of zero, and leaves open what they give.
      try promise(
        described.map { $0.hasZeroOffset || $0.bytes == buffer.bytes.array() } ?? false,
        "a block gives something else")
    }
    // The right length for what it is, which the input hardly ever hits.
    guard let described = DescribedBlock(block, limit: 1 << 16), !described.hasZeroOffset else {
      return
    }
    let expected = described.bytes
    var again = ByteBuffer()
    let isTakenAgain = Bytes.with(block) { block in
      TextCompression.decompress(block, byteCount: expected.count, to: &again)
    }
    try promise(!isTakenAgain || again.bytes.array() == expected, "a block gives something else")
  }
}
