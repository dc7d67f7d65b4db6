import MsgStore
import Testing
import msgdump

/// The made-up chat is always the same, and one that a store can hold.
@Suite struct SampleChatTests {
  private func sample() -> [JSONRecord] {
    var records: [JSONRecord] = []
    SampleChat(longThreadMessageCount: 3000).forEachRecord { records.append($0) }
    return records
  }

  @Test func itIsAlwaysTheSame() throws {
    let text = lines(of: sample())
    #expect(text == lines(of: sample()))
    #expect(try records(of: text) == sample())
  }

  @Test func everyMessageHasItsPlace() {
    var conversations: Set<ConversationID> = []
    var ids: Set<MessageID> = []
    var pendingCount = 0
    for record in sample() {
      switch record {
      case .store(let member): #expect(member == "ann")
      case .conversation(let id, let participants, _):
        #expect(conversations.insert(id).inserted)
        #expect(participants.contains("ann"))
        ids = []
      case .receipt(let id, _): #expect(conversations.contains(id))
      case .message(let message):
        #expect(conversations.contains(message.conversation))
        #expect(ids.insert(message.id).inserted)
        #expect(message.replyTo.map { ids.contains($0) } ?? true)
        if message.serverTimestamp == nil { pendingCount += 1 }
      }
    }
    #expect(conversations.count >= 10)
    #expect(pendingCount >= 2)
  }
}
