import MsgStore
import PageFile
import Testing

/// Whether bytes are text is decided as the standard library decides it.
struct TextBytesTests {
  private func expectSame(_ bytes: [UInt8], _ place: SourceLocation = #_sourceLocation) {
    let ours = Bytes.with(bytes) { $0.isText }
    let theirs = String(validating: bytes, as: UTF8.self) != nil
    if ours != theirs { Issue.record("\(bytes): \(ours), not \(theirs)", sourceLocation: place) }
  }

  /// Every sequence of up to three bytes, of four those that differ in what matters.
  @Test func allSequencesAreJudgedAlike() {
    for first in UInt8.min...UInt8.max {
      expectSame([first])
      for second in UInt8.min...UInt8.max { expectSame([first, second]) }
    }
    let borders: [UInt8] = [
      0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1,
      0xEC,
      0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF,
    ]
    for first in borders {
      for second in borders {
        for third in borders {
          expectSame([first, second, third])
          for fourth in borders { expectSame([first, second, third, fourth]) }
        }
      }
    }
  }

  /// A text with what is none at any place of it, so that words and their ends are met everywhere.
  @Test func errorsAreFoundAnywhere() {
    let text = "plain, and näive 👩‍👩‍👧 then жизнь, 漢字 and a long tail of plain text"
    let bytes = Array(text.utf8)
    expectSame(bytes)
    for end in bytes.indices { expectSame(Array(bytes[..<end])) }
    for start in bytes.indices { expectSame(Array(bytes[start...])) }
    for index in bytes.indices {
      for value in [0x41, 0x80, 0xBF, 0xC3, 0xE2, 0xED, 0xF0, 0xFF] as [UInt8] {
        var changed = bytes
        changed[index] = value
        expectSame(changed)
      }
    }
  }
}
