import MsgStore
import Testing

/// What happens beside what people and servers do: the clock is set, a file is prepared.
extension OutboxPlayer {
  func moveClock() {
    switch Int.random(in: 0..<10, using: &random) {
    case 0: setClock(now + (random.chance(50) ? 3 : 365) * OutboxModel.day)
    case 1: setClock(max(1_000_000_000, now - 3 * OutboxModel.day))
    case 2: setClock(max(1_000_000_000, now - 30_000_000))
    default: setClock(now + .random(in: 1...100, using: &random) * 1_000_000)
    }
  }

  func prepare(_ upload: (index: Int, message: MessageID, file: String)) throws {
    guard let room = model.messages[upload.message]?.room else { return }
    try change { (model, chat) throws in
      let name = model.rooms[room].name
      #expect(throws: StoreError.self) {
        let large = MessageAttachment(id: upload.file, kind: .image, byteCount: 2_000_001)
        _ = try chat.prepareUpload(large, of: upload.message, in: name)
      }
      let small = MessageAttachment(id: upload.file, kind: .image, byteCount: 1_000)
      #expect(try chat.prepareUpload(small, of: upload.message, in: name))
      model.entries[upload.index].isUnprepared = false
    }
    note("prepared")
  }
}
