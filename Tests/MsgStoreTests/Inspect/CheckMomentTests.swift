import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// A check whose moment ends before it does.
///
/// It begins anew, or says why it cannot go on; what it was kept from reading is not broken.
@Suite(.timeLimit(.minutes(30))) struct CheckMomentTests {
  private static let partCount = 14

  private func filledStore() throws -> MessageStore {
    let store = try memoryStore()
    try store.write { chat in
      _ = try chat.createGroup("room", participants: ["you", "ann"], title: "Group")
      for index in 0..<200 {
        try chat.insert(message(MessageID("m\(index)"), at: Int64(index), Int64(index)))
      }
      try chat.send(message("own", at: nil, from: "me"))
      try chat.receive(Reaction("👍", from: "you", at: time(1)), to: "m3", in: "room")
      try chat.markRead("room")
    }
    return store
  }

  @Test(arguments: 0..<partCount) func aSuspendedStoreIsNotBroken(_ part: Int) throws {
    let store = try filledStore()
    #expect(throws: StoreError.storage(.suspended)) {
      try store.check { if $0 == part { try? store.suspend() } }
    }
    try store.resume()
    try store.expectSound()
  }

  @Test(arguments: [0, 3, partCount - 1]) func aClosedStoreIsNotBroken(_ part: Int) throws {
    let store = try filledStore()
    #expect(throws: StoreError.storage(.closed)) {
      try store.check { if $0 == part { try? store.close() } }
    }
  }

  @Test func aMomentThatIsNoLongerKeptIsFollowedByAnother() throws {
    let store = try filledStore()
    var beginningCount = 0
    let findings = try store.check { part in
      if part == 0 { beginningCount += 1 }
      guard part == 5, beginningCount < 3 else { return }
      try? store.suspend()
      try? store.resume()
    }
    #expect(findings == [] && beginningCount == 3)
    var endCount = 0
    #expect(throws: StoreError.storage(.snapshotExpired)) {
      try store.check { part in
        guard part == 5 else { return }
        endCount += 1
        try? store.suspend()
        try? store.resume()
      }
    }
    #expect(endCount == 4)
    try store.expectSound()
  }
}
