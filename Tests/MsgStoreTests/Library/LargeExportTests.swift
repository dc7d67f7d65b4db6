import MsgStore
import MsgStoreTools
import PageFile
import Simulation
import Testing

/// Whatever is exported can be restored, however much there is of one message.
struct LargeExportTests {
  /// Exports a store, restores it, and exports the new one.
  private func expectSameExport(_ store: MessageStore) throws -> [String] {
    let lines = try store.lines()
    let again = try MessageStore.restored(from: lines)
    #expect(try again.lines().hasSameBytes(as: lines))
    try again.expectSound()
    var texts: [String] = []
    var start = 0
    while let end = lines.place(of: UInt8(ascii: "\n"), from: start) {
      texts.append(String(decoding: lines[start..<end], as: UTF8.self))
      start = end + 1
    }
    return texts
  }

  @Test func manyVersionsHaveLinesOfTheirOwn() throws {
    let store = try memoryStore()
    // Control characters have six bytes each in an export.
    let text = String(repeating: "\u{1}", count: 200_000)
    try store.write { chat throws in
      try chat.insert(chatMessage("m", in: "room", at: 1, text: text))
      for index in 1...9 {
        _ = try chat.receiveEdit(
          of: "m", in: "room", text: text + "\(index)", at: time(Int64(index)))
        _ = try chat.receiveEdit(
          of: "later", in: "room", text: text + "\(index)", at: time(Int64(index)))
      }
      _ = try chat.receive(Reaction("👍", from: "ann", at: time(3)), to: "m", in: "room")
    }
    let lines = try expectSameExport(store)
    #expect(
      lines.count { $0.hasPrefix(#"{"kind":"facts","conversation":"room","message":"m""#) } == 2)
    #expect(lines.count { $0.hasPrefix(#"{"kind":"facts""#) } == 4)
    #expect(lines.allSatisfy { $0.utf8.count < 6 << 20 })
  }

  @Test func manyAttachmentsHaveLinesOfTheirOwn() throws {
    let store = try memoryStore()
    try store.write { chat throws in
      var message = chatMessage("m", in: "room", at: 1)
      message.attachments = (0..<80).map {
        MessageAttachment(
          id: "a\($0)", kind: .image, preview: [UInt8](repeating: UInt8($0), count: 60_000))
      }
      try chat.insert(message)
      _ = try chat.receive(
        ReceivedReceipt(in: "room", of: "bob", .read, .messages(["m"]), time: time(5)))
    }
    let lines = try expectSameExport(store)
    #expect(lines.count { $0.hasPrefix(#"{"kind":"facts""#) } == 2)
  }

  @Test func splitFactsAreTheSame() throws {
    var message = ExportedMessage()
    (message.conversation, message.id, message.sender) = ("room", "m", "ann")
    message.serverTimestamp = time(1)
    for index in 0..<20 {
      var version = ExportedVersion()
      version.text = "text \(index)"
      version.editedAt = index == 0 ? nil : time(Int64(index))
      message.facts.history.append(version)
      message.facts.attachments.append(
        ExportedAttachment(MessageAttachment(id: "a\(index)", kind: .image)))
      var receipt = ExportedReceipt()
      (receipt.member, receipt.isRead) = (MemberID("m\(index + 10)"), true)
      message.facts.receipts.append(receipt)
    }
    message.editedAt = time(30)
    let store = try memoryStore()
    let other = try memoryStore()
    var line = message
    let rest = line.facts.split(maximumByteCount: 100)
    #expect(rest.parts.count > 10)
    try store.write { chat throws in #expect(try chat.restore(message, as: .live)) }
    try other.write { chat throws in
      #expect(try chat.restore(line, as: .live))
      for part in rest.parts { try chat.restore(part, of: "m", in: "room") }
    }
    #expect(try store.lines() == other.lines())
    try other.expectSound()
  }

  @Test func largeLinesAreCommittedOneAfterTheOther() throws {
    let store = try memoryStore()
    try store.write { chat throws in
      for index in 0..<20 {
        var message = chatMessage(MessageID("m\(index)"), in: "room", at: Int64(index))
        message.attachments = (0..<3).map {
          MessageAttachment(
            id: "a\($0)", kind: .image, preview: [UInt8](repeating: 1, count: 60_000))
        }
        try chat.insert(message)
      }
    }
    let lines = try store.lines()
    var counts: [Int] = []
    try Restorer(isLenient: false, numbersFromOrder: false, localMember: nil).restore(
      JSONRecordReader(isLenient: false, source: source(of: lines)),
      to: { options throws(StoreError) in
        try MessageStore(in: MemoryDirectory(), name: "store", options: options)
      }, progress: { counts.append($0.lineCount) })
    // The 20 messages have 7 MiB, and a commit takes 4.
    #expect(Set(counts).count == 3)
  }

  @Test func rulesBeyondTheLimitsAreRefusedByLine() throws {
    for (lines, expected) in [
      (
        [#"{"kind":"store","local_member":"me","retention":{"days":36501}}"#],
        "line 1: the number of days that messages are kept is 36501; the limits are 1 and 36500"
      ),
      (
        [
          #"{"kind":"store","local_member":"me"}"#,
          #"{"kind":"conversation","id":"c","retention":{"messages":0}}"#,
        ],
        "line 2: the number of messages that are kept is 0; the limits are 1 and 1000000000"
      ),
      ([#"{"kind":"store","local_member":""}"#], "line 1: a member id is empty"),
    ] {
      let bytes = Array(lines.joined(separator: "\n").utf8)
      let error = #expect(throws: StoreToolError.self) { try MessageStore.restored(from: bytes) }
      #expect(error.map { "\($0)" } == expected)
    }
  }
}
