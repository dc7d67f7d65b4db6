import MsgStore
import PageFile
import Simulation
import Testing

/// What was taken back or deleted is in none of the files after the next checkpoint.
struct ErasureTests {
  enum End: String, CaseIterable, Sendable {
    case neverSent, confirmed, received, deleted, receivedBeforeItsMessage
  }

  private static let canary = "Kanarienvogel"

  /// Texts in which the canary stands in the clear, also where it is compressed.
  private func text(_ isLong: Bool, _ number: Int) -> String {
    let word = "\(Self.canary)-\(number)."
    return isLong ? word + String(repeating: " and so on", count: 900) : word
  }

  private func picture(_ number: Int) -> MessageAttachment {
    MessageAttachment(
      id: "\(Self.canary)-id-\(number)", kind: .image, thumbnailURL: "\(Self.canary)-thumb",
      fileName: "\(Self.canary)-\(number).png")
  }

  private func full(_ id: MessageID, _ isLong: Bool, from sender: MemberID, at time: Int64?)
    -> Message
  {
    var message = message(id, at: time, from: sender, local: 5, text: text(isLong, 0))
    message.attachments = [picture(0)]
    return message
  }

  private func tell(_ end: End, _ isLong: Bool, _ store: MessageStore) throws {
    // Neighbours, so that pages are shared, split and merged.
    try store.write { chat in
      for number in 0..<60 {
        try chat.insert(
          message(MessageID("n\(number)"), at: Int64(number), text: "neighbour \(number)"))
      }
    }
    try store.checkpoint()
    try store.write { chat in
      switch end {
      case .neverSent:
        try chat.send(full("m", isLong, from: "me", at: nil))
      case .confirmed, .deleted:
        try chat.insert(full("m", isLong, from: "me", at: 1_000))
      case .received:
        try chat.insert(full("m", isLong, from: "you", at: 1_000))
      case .receivedBeforeItsMessage: break
      }
    }
    try store.checkpoint()
    for number in 1..<4 {
      try store.write { chat in
        switch end {
        case .neverSent, .confirmed: try chat.edit("m", in: "room", text: text(isLong, number))
        default:
          try chat.receiveEdit(
            of: "m", in: "room", text: text(isLong, number), at: time(Int64(2_000 + number)))
        }
      }
      if number == 2 { try store.checkpoint() }
    }
  }

  private func finish(_ end: End, _ isLong: Bool, _ store: MessageStore) throws {
    try store.write { chat in
      switch end {
      case .neverSent: try chat.retract("m", in: "room")
      case .confirmed:
        try chat.retract("m", in: "room")
        try chat.confirmRetraction(of: "m", in: "room")
      case .received: try chat.receiveRetraction(of: "m", in: "room")
      case .deleted: try chat.delete("m", in: "room")
      case .receivedBeforeItsMessage:
        try chat.receiveRetraction(of: "m", in: "room")
      }
    }
    if end == .receivedBeforeItsMessage {
      try store.write { try $0.insert(full("m", isLong, from: "you", at: 1_000)) }
    }
  }

  @Test(arguments: End.allCases, [false, true])
  func noFileHasTheTextItsHistoryOrItsAttachments(end: End, isLong: Bool) throws {
    let directory = MemoryDirectory()
    let clock = TestClock(3_000)
    let store = try clock.store(directory)
    try tell(end, isLong, store)
    #expect(directory.holds(Self.canary), "the search works")
    try finish(end, isLong, store)
    try store.checkpoint()
    #expect(!directory.holds(Self.canary))
    try store.expectSound()
    #expect(try store.preview?.text != nil)
    try store.close()
    #expect(!directory.holds(Self.canary))
    let reopened = try clock.store(directory)
    try reopened.expectSound()
    #expect(try reopened.tail.count == ([.deleted, .neverSent].contains(end) ? 60 : 61))
  }

  @Test func aRefusedEditIsInNoFileEither() throws {
    let directory = MemoryDirectory()
    let store = try TestClock(3_000).store(directory)
    try store.write { try $0.insert(message("m", at: 1, from: "me")) }
    let made = try store.write { try $0.edit("m", in: "room", text: text(false, 1)) }
    try store.checkpoint()
    #expect(directory.holds(Self.canary))
    try store.write { chat in
      _ = try chat.refuseEdit(
        of: "m", in: "room", at: try #require(made), because: SendFailure(.permission))
    }
    try store.checkpoint()
    #expect(!directory.holds(Self.canary))
    #expect(try store.preview?.text == "hello")
  }
}
