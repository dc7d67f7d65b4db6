import BlockTrials
import LZ4Blocks
import PageFile
import Testing

/// Blocks written by hand from the format's description.
struct BlockFormatTests {
  struct Example: CustomTestStringConvertible {
    let testDescription: String
    let block: [UInt8]
    var dictionary = ""
    let text: String
  }

  static let examples: [Example] = [
    Example(testDescription: "no bytes", block: [0x00], text: ""),
    Example(testDescription: "literals", block: [0x50] + Array("hello".utf8), text: "hello"),
    Example(
      testDescription: "the longest literals without a further byte",
      block: [0xE0] + Array("fourteen bytes".utf8), text: "fourteen bytes"),
    Example(
      testDescription: "literals with a further byte of 0",
      block: [0xF0, 0] + Array("fifteen bytes !".utf8), text: "fifteen bytes !"),
    Example(
      testDescription: "literals with further bytes of 255 and 0",
      block: [0xF0, 255, 0] + Array(repeating: UInt8(ascii: "x"), count: 270),
      text: String(repeating: "x", count: 270)),
    // One literal; a match of 10 + 4 bytes, 1 back; five literals.
    Example(
      testDescription: "a match that reaches into what it makes",
      block: [0x1A, UInt8(ascii: "a"), 1, 0, 0x50] + Array("aaaaa".utf8),
      text: String(repeating: "a", count: 20)),
    Example(
      testDescription: "a match with further bytes of 255 and 3",
      block: [0x1F, UInt8(ascii: "b"), 1, 0, 255, 3, 0x50] + Array("bbbbb".utf8),
      text: String(repeating: "b", count: 1 + 15 + 255 + 3 + 4 + 5)),
    Example(
      testDescription: "a match three back",
      block: [0x35] + Array("abc".utf8) + [3, 0, 0x50] + Array("abcab".utf8),
      text: "abcabcabcabcabcab"),
    // Two sequences in succession: the second has no literals.
    Example(
      testDescription: "two matches",
      block: [0x80] + Array("abcdefgh".utf8) + [8, 0, 0x02, 2, 0, 0x60] + Array("!!!!!!".utf8),
      text: "abcdefghabcdcdcdcd!!!!!!"),
    Example(
      testDescription: "a match in the dictionary",
      block: [0x04, 10, 0, 0xC0] + Array("twelve bytes".utf8), dictionary: "0123456789",
      text: "01234567twelve bytes"),
    Example(
      testDescription: "a match at the end of the dictionary",
      block: [0x00, 4, 0, 0xC0] + Array("twelve bytes".utf8), dictionary: "0123456789",
      text: "6789twelve bytes"),
    Example(
      testDescription: "a match that leaves the dictionary for what it makes",
      block: [0x05, 3, 0, 0xC0] + Array("twelve bytes".utf8), dictionary: "abc",
      text: "abcabcabctwelve bytes"),
    Example(
      testDescription: "a match that leaves the dictionary for literals",
      block: [0x24] + Array("xy".utf8) + [6, 0, 0xC0] + Array("twelve bytes".utf8),
      dictionary: "abcdefgh", text: "xyefghxyeftwelve bytes"),
  ]

  @Test(arguments: examples)
  func aBlockGivesTheTextThatItIsDescribedToGive(_ example: Example) throws {
    #expect(decoded(example.block, example.dictionary, example.text.utf8.count) == example.text)
    let trial = BlockTrial(dictionary: Array(example.dictionary.utf8))
    #expect(try trial.decode(example.block, byteCount: example.text.utf8.count))
    for wrong in [-1, 1, 5, 100] where example.text.utf8.count + wrong >= 0 {
      #expect(try !trial.decode(example.block, byteCount: example.text.utf8.count + wrong))
    }
  }

  struct Refused: CustomTestStringConvertible {
    let testDescription: String
    let block: [UInt8]
    let byteCount: Int
    var dictionary = ""
  }

  static let twelve = [0xC0] + Array("twelve bytes".utf8)

  static let refused: [Refused] = [
    Refused(testDescription: "no token", block: [], byteCount: 0),
    Refused(testDescription: "fewer literals than stated", block: [0x50, 1, 2], byteCount: 5),
    Refused(
      testDescription: "an unfinished count of literals", block: [0xF0, 255], byteCount: 270),
    Refused(testDescription: "half an offset", block: [0x10, 65, 1], byteCount: 20),
    Refused(
      testDescription: "an unfinished length of a match", block: [0x1F, 65, 1, 0, 255],
      byteCount: 300),
    Refused(testDescription: "an offset of 0", block: [0x14, 65, 0, 0] + twelve, byteCount: 21),
    Refused(
      testDescription: "an offset before the text", block: [0x14, 65, 2, 0] + twelve,
      byteCount: 21),
    Refused(
      testDescription: "an offset before the dictionary", block: [0x14, 65, 5, 0] + twelve,
      byteCount: 21, dictionary: "abc"),
    Refused(
      testDescription: "an end without literals", block: [0x1F, 65, 1, 0, 20], byteCount: 40),
    Refused(
      testDescription: "four last literals",
      block: [0x1F, 65, 1, 0, 20, 0x40] + Array("last".utf8),
      byteCount: 44),
    Refused(
      testDescription: "a last match 11 bytes before the end",
      block: [0x11, 65, 1, 0, 0x60] + Array("sixsix".utf8), byteCount: 12),
    Refused(
      testDescription: "a match longer than the text",
      block: [0x1F, 65, 1, 0, 255, 255, 0] + twelve,
      byteCount: 40),
  ]

  @Test(arguments: refused)
  func bytesThatAreNoBlockAreRefused(_ example: Refused) throws {
    #expect(decoded(example.block, example.dictionary, example.byteCount) == nil)
    let trial = BlockTrial(dictionary: Array(example.dictionary.utf8))
    #expect(try !trial.decode(example.block, byteCount: example.byteCount))
  }

  @Test func aTextThatIsTooShortForAMatchIsOneRunOfLiterals() throws {
    let trial = BlockTrial(dictionary: Array("aaaaaaaaaaaa".utf8))
    for byteCount in 0..<12 {
      let text = Array(repeating: UInt8(ascii: "a"), count: byteCount)
      for block in try trial.encode(text) {
        #expect(block == [UInt8(byteCount << 4)] + text)
      }
    }
  }

  private func decoded(_ block: [UInt8], _ dictionary: String, _ byteCount: Int) -> String? {
    var target = ByteBuffer()
    target.append(zeros: byteCount)
    let isTaken = Bytes.with(block) { block in
      Bytes.with(Array(dictionary.utf8)) { dictionary in
        BlockDecoder.decode(block, dictionary: dictionary, into: target.mutableBytes)
      }
    }
    return isTaken ? String(decoding: target.bytes.array(), as: UTF8.self) : nil
  }
}
