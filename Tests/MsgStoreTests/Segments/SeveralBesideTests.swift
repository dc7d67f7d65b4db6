import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// Several changed messages beside one segment: when it is packed again, none of them stays there.
struct SeveralBesideTests {
  /// What has the segment packed again.
  enum Cause: CaseIterable { case compaction, retraction, deletion, lateMessage }

  private static func id(_ index: Int) -> MessageID { MessageID("m-\(100 + index)") }

  @Test(arguments: Cause.allCases) func allGoWhenTheirSegmentIsPackedAgain(cause: Cause) throws {
    let files = MemoryDirectory()
    let store = try memoryStore(
      files, packing: PackingSizes(looseCount: 0, maximumSegmentByteCount: 1000))
    try store.write { chat in
      for index in 0..<60 {
        try chat.insert(
          message(Self.id(index), at: Int64(1000 + 10 * index), text: "text \(index)"))
      }
    }
    for index in 20...23 { try edit(index, store) }
    #expect(try Cells(files).all(Cells.besideTree).count == 4)
    #expect(try Cells(files).marked.count == 1)
    try store.expectSound()

    switch cause {
    case .compaction: try store.compact()
    case .retraction:
      try store.write { _ = try $0.receiveRetraction(of: Self.id(20), in: "room") }
    case .deletion: try store.write { _ = try $0.delete(Self.id(20), in: "room") }
    case .lateMessage:
      try store.write { chat in _ = try chat.insert(message("late", at: 1205)) }
    }
    #expect(try Cells(files).all(Cells.besideTree).isEmpty)
    #expect(try Cells(files).marked.isEmpty)
    try store.expectSound()
    // Whatever lies beside the segment now is what was changed since.
    try edit(21, store, text: "again")
    #expect(try Cells(files).all(Cells.besideTree).count == 1)
    let texts = try (21...23).map { try store.message(Self.id($0))?.text }
    #expect(texts == ["again", "edited", "edited"])
    try store.expectSound()
    try store.close()
  }

  private func edit(_ index: Int, _ store: MessageStore, text: String = "edited") throws {
    let moment = Int64(1_000_000 + (text == "again" ? 100 : 0))
    try store.write { chat in
      try chat.receiveEdit(of: Self.id(index), in: "room", text: text, at: time(moment))
    }
  }
}
