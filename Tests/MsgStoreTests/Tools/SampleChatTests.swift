import MsgStore
import MsgStoreTools
import Testing
import msgdump

/// The made-up chat is always the same, and one that a store can hold.
struct SampleChatTests {
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
      case .store(let store): #expect(store.localMember == "ann")
      case .conversation(let conversation):
        #expect(conversations.insert(conversation.id).inserted)
        #expect(conversation.members.contains { $0.member == "ann" })
        ids = []
      case .message(let message):
        #expect(conversations.contains(message.conversation))
        #expect(ids.insert(message.id).inserted)
        #expect(message.replyTo.map { ids.contains($0) } ?? true)
        if message.serverTimestamp == nil { pendingCount += 1 }
      case .reaction(let reaction): #expect(ids.contains(reaction.message))
      case .receipt(let receipt): #expect(conversations.contains(receipt.conversation))
      default: break
      }
    }
    #expect(conversations.count >= 10)
    #expect(pendingCount >= 2)
  }
}
