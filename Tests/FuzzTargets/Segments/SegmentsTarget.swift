import MsgStore
import PageFile

/// Reads segments that anybody may have written, and dictionaries.
enum SegmentsTarget {
  static func run(_ input: inout FuzzInput) throws(BrokenPromise) {
    switch input.index(below: 4) {
    case 0: try SegmentBlocks.runForeign(&input)
    case 1: try SegmentBlocks.runOwn(&input)
    default: try ForeignCells.run(&input, packed, trees: [0, 6, 6, 7])
    }
  }

  /// A store with several segments, and a dictionary that some of them were packed with.
  private static let packed: ForeignCells.Sample = {
    do {
      let directory = MemoryDirectory()
      var options = StoreOptions()
      options.localMember = "me"
      options.packing = PackingSizes(looseCount: 1, maximumSegmentByteCount: 400)
      let store = try MessageStore.inMemory(directory, options)
      for first in [0, 20] {
        try store.write { writer in
          for number in first..<first + 20 {
            try writer.insert(message(number, in: number % 4 == 0 ? "room" : "club"))
          }
          try writer.receiveRetraction(of: "m-3", in: "club", at: Timestamp(seconds: 300))
        }
        if first == 0 {
          let words = Array("the same words as ever, with nothing new in them. ".utf8)
          let bytes = (0..<20).flatMap { _ in words }
          try store.write { try $0.addDictionary(bytes, number: 1) }
        }
      }
      try store.write { writer in
        _ = try writer.markRead("club", upTo: "m-9")
        try writer.insert(Message(id: "draft", in: "club", from: "me", text: "later"))
      }
      try store.close()
      return try ForeignCells.sample(directory)
    } catch {
      preconditionFailure("the sample store cannot be made: \(error)")
    }
  }()

  private static func message(_ number: Int, in conversation: ConversationID) -> Message {
    Message(
      id: MessageID("m-\(number)"), in: conversation, from: number % 3 == 0 ? "me" : "ann",
      text: "the same words as ever, with nothing new in them. \(number)",
      localTime: number == 2 ? Timestamp(seconds: 3) : nil,
      serverTimestamp: Timestamp(seconds: Int64(100 + number)),
      sequence: number == 5 ? nil : Int64(number), replyTo: number == 6 ? "m-1" : nil)
  }
}
