import MsgStore
import PageFile
import Testing

/// How many messages a sample is told of comes from summaries, which may be damaged.
struct DictionarySampleTests {
  @Test(arguments: [Int.min, -1, 0, 1, 40_000, Int(UInt32.max), .max])
  func anyCountOfMessagesGivesASample(messageCount: Int) {
    var sample = DictionarySample(messageCount: messageCount)
    let isWanted = sample.wants(255)
    #expect(isWanted)
    var run = MessageRun()
    let text = ByteBuffer.repeating("words that many say ", count: 500)
    let record = MessageRecord(
      flags: [], status: .sent, sender: 1, textByteCount: text.count, payload: text.bytes)
    var bytes = ByteBuffer()
    record.append(to: &bytes)
    for index in 0..<255 as Range<Int64> {
      let position = MessagePosition(.acknowledged(index, sequence: index), "m")
      let key = KeyEncoding.key(1, position)
      run.append(key.bytes, bytes.bytes)
    }
    sample.add(run)
    // One sender on one day: nothing of it may be kept.
    let isNone = sample.makeDictionary(insteadOf: .none, number: 1, byteCountMin: 512) == nil
    #expect(isNone)
  }
}

extension ByteBuffer {
  fileprivate static func repeating(_ text: String, count: Int) -> ByteBuffer {
    var buffer = ByteBuffer()
    for _ in 0..<count { buffer.append(text) }
    return buffer
  }
}
