import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// What is known of conversations survives a salvage, also in the middle of long work.
struct ConversationSalvageTests {
  @Test func detailsAreSavedAndWhatWasDeletedIsNot() throws {
    let directory = MemoryDirectory()
    var options = StoreOptions(localMember: "me", clock: { time(1000) })
    options.worksInBackground = false
    let store = try MessageStore(in: directory, name: "store", options: options)
    try store.write { chat in
      _ = try chat.createGroup("g", participants: ["ann", "bob"], title: "Group", avatar: "a")
      try chat.removeParticipants(["bob"], from: "g")
      try chat.setPinned(true, of: "g")
      try chat.setDraft("half", replyTo: "m", in: "g")
      try chat.renameConversation("g", to: "server")
      for id in ["gone", "mine"] as [ConversationID] {
        for index in 0..<1200 {
          try chat.insert(chatMessage(MessageID("m\(index)"), in: id, at: Int64(index)))
        }
      }
      try chat.markRead("mine")
      try chat.insert(chatMessage("new", in: "mine", at: 5000))
      try chat.insert(chatMessage("s", in: "yours", at: 6000))
      try chat.renameConversation("mine", to: "yours")
      try chat.deleteConversation("gone")
    }
    try store.close()
    let salvaged = try SalvageSubject(directory).salvage()
    #expect(salvaged.saved.isWhole)
    let room = try #require(salvaged.content.conversations["server"])
    #expect(room.otherIDs == ["g"] && room.title == "Group" && room.avatar == "a")
    #expect(room.participants == ["ann", "me"] && salvaged.content.former["server"] == ["bob"])
    #expect(room.isPinned && room.hasDraft && room.createdBy == "me" && room.kind == .group)
    #expect(salvaged.content.conversations["yours"]?.messageCount == 1202)
    #expect(salvaged.content.conversations["yours"]?.unreadCount == 2)
    #expect(salvaged.content.conversations["gone"]?.messageCount ?? 0 == 0)
  }
}
