import MsgStore
import PageFile
import Testing

/// No call traps for a name that no store can have: it is refused with a typed error, or nothing is
/// found under it, and the store is as it was.
struct BadNamesTests {
  private static let names = [
    "", String(repeating: "x", count: 256), String(repeating: "é", count: 600),
  ]

  @Test(arguments: names) func everyCallRefusesOrFindsNothing(name: String) throws {
    let store = try memoryStore()
    try store.write { chat in
      try chat.putConversation("room", participants: ["me", "you", "ann"])
      try chat.insert(message("m1", at: 10))
    }
    let before = store.statistics.lastCommit
    let (id, room, member) = (MessageID(name), ConversationID(name), MemberID(name))
    func expectHarmless(
      _ location: SourceLocation = #_sourceLocation,
      _ body: (borrowing StoreWriter) throws -> Bool
    ) throws {
      try store.write { chat in
        do {
          let isChanged = try body(chat)
          #expect(!isChanged, sourceLocation: location)
        } catch let error as StoreError {
          switch error {
          case .storage, .corruptRecord:
            Issue.record("a bad name is no fault of the storage", sourceLocation: location)
          default: break
          }
        }
      }
    }
    let failure = SendFailure(.invalid)
    for (id, room) in [(id, "room"), ("m1", room)] {
      try expectHarmless { try $0.acknowledge(id, in: room, serverTimestamp: time(5)) }
      try expectHarmless {
        try $0.acknowledge(id, in: room, serverTimestamp: time(5), as: MessageID(name))
      }
      try expectHarmless { try $0.setStatus(.failed, of: id, in: room) }
      try expectHarmless { try $0.setStatus(.read, of: id, in: room) }
      try expectHarmless { try $0.delete(id, in: room) }
      try expectHarmless { try $0.receiveEdit(of: id, in: room, text: "x", at: time(5)) }
      try expectHarmless { try $0.receiveRetraction(of: id, in: room) }
      try expectHarmless {
        try $0.receive(Reaction("👍", from: "you", at: time(1)), to: id, in: room)
      }
      try expectHarmless { try $0.edit(id, in: room, text: "x") != nil }
      try expectHarmless { try $0.confirmEdit(of: id, in: room, at: time(1)) }
      try expectHarmless { try $0.refuseEdit(of: id, in: room, at: time(1), because: failure) }
      try expectHarmless { try $0.retract(id, in: room) }
      try expectHarmless { try $0.confirmRetraction(of: id, in: room) }
      try expectHarmless { try $0.refuseRetraction(of: id, in: room, because: failure) }
      try expectHarmless { try $0.react("👍", to: id, in: room) }
      try expectHarmless { try $0.markRead(room, upTo: id) }
      try expectHarmless { try $0.markRead([id], in: room) }
      try expectHarmless { try $0.markDelivered([id], in: room) }
      try expectHarmless {
        try $0.receive(ReceivedReceipt(in: room, of: "you", .read, .upTo(id), time: time(1)))
      }
      try expectHarmless {
        try $0.receive(ReceivedReceipt(in: room, of: "you", .read, .messages([id]), time: nil))
      }
      try expectHarmless { try $0.history(of: id, in: room).count > 0 }
    }
    try expectHarmless { try $0.renameConversation(room, to: "other") }
    try expectHarmless { try $0.renameConversation("room", to: room) }
    try expectHarmless { try $0.deleteConversation(room) != nil }
    try expectHarmless { try $0.receiveConversationDeletion(room, at: time(1)) }
    try expectHarmless { try $0.setTitle("x", of: room) }
    try expectHarmless { try $0.setDraft("x", in: room) }
    try expectHarmless { try $0.setDraft("x", replyTo: id, in: "room") }
    try expectHarmless { try $0.addParticipants([member], to: "room") }
    try expectHarmless { try $0.declareAbsent(1...5, in: room) }
    try expectHarmless { try $0.setSyncPosition([1], for: "k", in: room) }
    try expectHarmless { try $0.setSyncPosition([1], for: name) }
    try expectHarmless {
      try $0.receive(ReceivedReceipt(in: "room", of: member, .read, .upTo("m1"), time: nil))
    }
    try store.read { chat in
      #expect(try chat.message(id, in: "room") == nil)
      #expect(try chat.message("m1", in: room) == nil)
      let slice = try chat.thread(room).tail(5)
      #expect(slice.isEmpty)
      #expect(try chat.conversation(room) == nil)
      #expect(try chat.delivery(of: id, in: "room") == nil)
      #expect(try chat.readers(of: id, in: "room").isEmpty)
      #expect(try chat.attachments(of: id, in: "room").isEmpty)
      #expect(try chat.gaps(in: room).isEmpty)
    }
    #expect(store.statistics.lastCommit == before)
    try store.expectSound()
  }
}
