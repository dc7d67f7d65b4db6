import MsgStore
import PageFile
import Testing

/// The list of conversations with something to tell, where members or conversations come and go.
struct PendingListTests {
  private let group: ConversationID = "room"

  private func joined(_ time: Int64, _ members: [MemberID]) -> ReceivedConversation {
    ReceivedConversation(group, at: Timestamp(microseconds: time)) {
      $0.members = members.map { .init($0) }
      $0.hasAllMembers = true
    }
  }

  /// Where nobody has read anything there is no record of how far all have come.
  @Test(arguments: ReceiptKind.allCases)
  func whatWasMarkedByItsNameIsToldByWhoComesBack(_ kind: ReceiptKind) throws {
    let store = try memoryStore()
    try store.write { chat in
      try chat.receive(joined(5, ["you", "me"]))
      try chat.receive(joined(10, ["you"]))
      try chat.insert(message("m1", at: 20))
      switch kind {
      case .read: try chat.markRead(["m1"], in: group)
      case .delivered: try chat.markDelivered(["m1"], in: group)
      }
    }
    #expect(try store.pendingRooms(kind) == [])
    try store.expectSound()
    try store.write { try $0.receive(joined(30, ["you", "me"])) }
    #expect(try store.pendingRooms(kind) == [group])
    #expect(try store.pending(kind, as: .ids()).map(\.ids) == [["m1"]])
    try store.expectSound()
    try store.write { try $0.receive(joined(40, ["you"])) }
    #expect(try store.pendingRooms(kind) == [])
    try store.expectSound()
  }

  @Test func whatWasDeliveredIsToldOfADeletedConversation() throws {
    let store = try memoryStore()
    try store.write { chat in
      try chat.insert(message("m1", at: 20))
      try chat.markDelivered(["m1"], in: group)
      try chat.receiveConversationDeletion(group, at: time(30))
    }
    try store.finishWork()
    #expect(try store.pendingRooms(.delivered) == [group])
    try store.expectSound()
  }

  /// A message that comes late is told by its name, which another may take the place of.
  @Test func aMessageOfTwoNamesIsToldOnce() throws {
    let store = try memoryStore()
    try store.write { chat in
      try chat.insert(contentsOf: [message("a", at: 10), message("z", at: 40)])
      try chat.markDelivered(group, upTo: "z")
      try chat.insert(message("s", at: 20))
      try chat.acknowledge("m", in: group, serverTimestamp: time(25), revision: 1, as: "s")
      try chat.insert(message("n", at: 50))
      try chat.markDelivered(group, upTo: "n")
    }
    let batches = try store.pending(.delivered, as: .ids())
    #expect(batches.map(\.ids) == [["s"], ["a", "z", "n"]])
    try store.write { try $0.confirm(batches[0]) }
    try store.expectSound()
    #expect(try store.pending(.delivered, as: .ids()).map(\.ids) == [["a", "z", "n"]])
  }

  /// The server is told the name in the key; what is kept of the message lies under its own.
  @Test func aBatchThatWasOvertakenIsConfirmedUnderEitherName() throws {
    let store = try memoryStore()
    try store.write { chat in
      try chat.insert(contentsOf: [message("a", at: 10), message("m", at: 20)])
      try chat.acknowledge("m", in: group, serverTimestamp: time(20), as: "s")
      try chat.insert(message("z", at: 30))
      try chat.markDelivered(group)
    }
    let batches = try store.pending(.delivered, as: .ids(maximumCount: 1))
    #expect(batches.map(\.ids) == [["a"], ["s"], ["z"]])
    try store.write { try $0.confirm(batches[2]) }
    #expect(try store.pending(.delivered, as: .ids()).map(\.ids) == [["a", "s"]])
    try store.write { try $0.confirm(batches[1]) }
    #expect(try store.pending(.delivered, as: .ids()).map(\.ids) == [["a"]])
    try store.write { try $0.confirm(batches[0]) }
    #expect(try store.pendingRooms(.delivered) == [])
    try store.expectSound()
  }
}
