import Foundation
import MsgStore
import PageFile
import Testing

/// However much there is of everything, an act that concerns one thing changes a few pages.
///
/// Pages are counted, not times. `MSGSTORE_STORES=n` makes it n of everything, such as 100,000.
@Suite(.timeLimit(.minutes(30))) struct BoundedActTests {
  private static let count =
    ProcessInfo.processInfo.environment["MSGSTORE_STORES"].flatMap(Int.init) ?? 700
  /// Some four trees of three levels, and the pages that a split adds.
  private static let maximumPageCount = 24

  private typealias Act = (name: String, body: (borrowing StoreWriter) throws -> Void)

  private func open(_ directory: MemoryDirectory) throws -> MessageStore {
    var options = StoreOptions(localMember: "me", clock: { time(1_000) }).makingConversations
    options.worksInBackground = false
    options.maximumWaitingCount = 2 * Self.count
    return try MessageStore(in: directory, name: "store", options: options)
  }

  /// Makes a group with as many members, messages, expiring ones, own pending ones, entries of the
  /// outbox, and reactions that wait for their messages.
  private func fill(_ store: MessageStore) throws {
    try store.write { chat in
      var group = ReceivedConversation("room", at: time(1))
      group.kind = .group
      group.members = [.init("me")] + (0..<Self.count).map { .init(MemberID("p\($0)")) }
      try chat.receive(group)
    }
    var index = 0
    while index < Self.count {
      try store.write { chat in
        for _ in 0..<min(100, Self.count - index) {
          let sender = MemberID("p\(index)")
          var message = chatMessage(
            MessageID("m\(index)"), in: "room", at: Int64(index), from: sender, text: "text")
          message.expiresAt = index % 2 == 0 ? time(1_000_000 + Int64(index)) : nil
          try chat.insert(message)
          try chat.send(own(MessageID("o\(index)"), in: "room", "text"))
          let reaction = Reaction("👍", from: sender, at: time(5))
          _ = try chat.receive(reaction, to: MessageID("w\(index)"), in: "room")
          try chat.receive(
            ReceivedReceipt(in: "room", of: sender, .read, .upTo(MessageID("m\(index)"))))
          index += 1
        }
      }
    }
    try store.finishWork()
  }

  private static let middle = MessageID("m\(count / 2)")

  private static var acts: [Act] {
    [
      ("insert", { try $0.insert(chatMessage("new", in: "room", at: 10_000_000)) }),
      ("insert in the middle", { try $0.insert(chatMessage("old", in: "room", at: 300)) }),
      ("insert what is waited for", { try $0.insert(chatMessage("w7", in: "room", at: 500)) }),
      (
        "receive an edit",
        {
          try $0.receiveEdit(of: middle, in: "room", text: "new", at: time(20_000_000))
        }
      ),
      (
        "receive a reaction",
        { try $0.receive(Reaction("😀", from: "p3", at: time(6)), to: middle, in: "room") }
      ),
      (
        "receive a reaction to come",
        { try $0.receive(Reaction("😀", from: "p3", at: time(6)), to: "later", in: "room") }
      ),
      ("react", { try $0.react("🎉", to: middle, in: "room") }),
      ("tag", { try $0.setTag(.starred, of: middle, in: "room") }),
      ("own field", { try $0.setOwnField("f", [1, 2, 3], of: .message(middle, in: "room")) }),
      ("draft", { try $0.setDraft("letter", in: "room") }),
      ("title", { try $0.setTitle("title", of: "room") }),
      ("pin", { try $0.setPinned(true, of: "room") }),
      ("mark as read in the middle", { try $0.markRead("room", upTo: middle) }),
      ("mark all as read", { try $0.markRead("room") }),
      (
        "receive a receipt",
        { try $0.receive(ReceivedReceipt(in: "room", of: "p1", .read, .upTo(middle))) }
      ),
      ("profile", { try $0.receive(MemberProfile(of: "p5", name: "Ann", version: 1)) }),
      ("forget a member", { try $0.forgetMember("p5") }),
      ("add a member", { try $0.addParticipants(["comer"], to: "room") }),
      ("remove a member", { try $0.removeParticipants(["p8"], from: "room") }),
      ("send", { try $0.send(own("own", in: "room", "text")) }),
      ("edit one's own", { try $0.edit("o3", in: "room", text: "changed") }),
      ("retract one's own", { try $0.retract("o4", in: "room") }),
      (
        "hand out and complete",
        { chat in
          guard let item = try chat.outbox.next(for: "w") else { throw NoWork() }
          try chat.outbox.complete(item)
        }
      ),
      (
        "acknowledge",
        { try $0.acknowledge("o9", in: "room", serverTimestamp: time(30_000_000)) }
      ),
      ("delete", { try $0.delete(MessageID("m11"), in: "room") }),
      ("receive a retraction", { try $0.receiveRetraction(of: "m12", in: "room", at: time(9)) }),
      ("expiry", { try $0.receiveExpiry(of: "m13", in: "room", at: time(2_000_000)) }),
      ("archive", { try $0.setArchived(true, of: "room") }),
      ("leave", { try $0.leave("room") }),
    ]
  }

  private struct NoWork: Error {}

  @Test func oneActChangesFewPages() throws {
    let directory = MemoryDirectory()
    let store = try open(directory)
    try fill(store)
    for act in Self.acts {
      try store.checkpoint()
      try store.write { try act.body($0) }
      let pageCount = store.statistics.loggedPageCount
      #expect(pageCount > 0, "\(act.name)")
      #expect(pageCount <= Self.maximumPageCount, "\(act.name)")
      try store.finishWork()
    }
    try store.expectSound()
  }
}
