import BlockTrials

/// Tries the package's own LZ4 codec beside liblz4.
///
///  1. Bytes are a block to both, or to neither, as the description of the format says.
///  2. A text comes back from the block of each encoder, by each decoder.
enum BlocksTarget {
  static func run(_ input: inout FuzzInput) throws(BrokenPromise) {
    let isText = input.bool()
    let trial = BlockTrial(dictionary: dictionary(&input))
    do {
      if isText {
        try run(text: text(&input), trial, &input)
      } else {
        try run(block: input, trial)
      }
    } catch {
      throw BrokenPromise("\(error)")
    }
  }

  /// Decodes the rest of the input, to several sizes.
  private static func run(
    block input: consuming FuzzInput, _ trial: BlockTrial
  ) throws(BlockTrial.Disagreement) {
    let byteCount = Int(input.number() & 0xF_FFFF)
    let block = input.rest()
    try trial.decode(block, byteCount: byteCount)
    // The right length for what it is, which the input hardly ever hits.
    guard let expected = trial.described(block, limit: 1 << 18) else { return }
    for wrong in [-1, 0, 1] where expected + wrong >= 0 {
      try trial.decode(block, byteCount: expected + wrong)
    }
  }

  /// Encodes a text; then its blocks are damaged.
  private static func run(
    text: [UInt8], _ trial: BlockTrial, _ input: inout FuzzInput
  ) throws(BlockTrial.Disagreement) {
    for var block in try trial.encode(text) {
      for _ in 0..<1 + input.index(below: 4) {
        block[input.index(below: block.count)] ^= input.byte()
      }
      try trial.decode(block, byteCount: text.count)
    }
  }

  /// A dictionary that repeats some bytes of the input up to any length.
  private static func dictionary(_ input: inout FuzzInput) -> [UInt8] {
    let bytes = input.take(input.index(below: 40))
    guard !bytes.isEmpty else { return [] }
    let byteCount = Int(min(input.number(), 65_535))
    return (0..<byteCount).map { bytes[$0 % bytes.count] &+ UInt8($0 / bytes.count & 1) }
  }

  /// A text of new bytes and of copies from any place before.
  private static func text(_ input: inout FuzzInput) -> [UInt8] {
    var text: [UInt8] = []
    // One copy may reach further back than a distance can.
    var maximumCount: UInt64 = 0x1_0FFF
    for _ in 0..<input.index(below: 24) {
      text += input.take(input.index(below: 32))
      guard !text.isEmpty else { continue }
      let distance = 1 + Int(input.number() % UInt64(text.count))
      let count = min(input.number(), maximumCount)
      for _ in 0..<count { text.append(text[text.count - distance]) }
      if count > 600 { maximumCount = 600 }
    }
    return text
  }
}
