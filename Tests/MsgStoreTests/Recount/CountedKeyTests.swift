import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// Keys of an index that several records have: their numbers follow each that comes or goes.
struct CountedKeyTests {
  /// All stand at one moment, answer one message, have one tag, and expire at one time.
  private func twin(_ index: Int) -> Message {
    var twin = reply(MessageID("m\(index)"), to: "a", at: 50)
    twin.text = "https://x.example/\(index)"
    twin.expiresAt = time(5_000_000)
    return twin
  }

  @Test func eachRecordThatComesOrGoesIsCountedOnce() throws {
    let files = MemoryDirectory()
    let store = try memoryStore(files)
    for index in 0..<4 {
      try store.write { chat in _ = try chat.insert(twin(index)) }
      try store.expectSound()
    }
    #expect(try Cells(files).index(.reply).map(\.value) == [[4]])
    #expect(try Cells(files).all(Schema.expiry.rawValue).map(\.value) == [[4]])
    // The tag's number, and that of its moment.
    #expect(try Cells(files).index(.tag).map(\.value) == [[4], [4]])
    for index in 0..<4 {
      try store.write { chat in _ = try chat.delete(MessageID("m\(index)"), in: "room") }
      try store.expectSound()
    }
    #expect(try Cells(files).index(.reply).isEmpty && Cells(files).index(.tag).isEmpty)
    #expect(try Cells(files).all(Schema.expiry.rawValue).isEmpty)
    try store.close()
  }
}
