import MsgStore

/// What nothing else in the golden store sets, so that each field of the format is set at least
/// once; `GoldenFieldsTests` counts them.
extension GoldenMessageStore {
  private static let start: Int64 = 1_704_074_970_000_000

  /// Acts that come before the outbox is filled.
  static func addRest(to store: MessageStore) throws {
    try store.write { chat in try addMarked(chat) }
    try store.write { chat in try addTransfers(chat) }
    try store.write { chat in try addReceipts(chat) }
    try store.write { chat in try addRooms(chat) }
    try store.write { chat in
      // What is kept of one conversation, and of all others.
      try chat.setRetention(Retention(days: 36_500))
      try chat.setRetention(Retention(messageCount: 3), of: "alt")
    }
  }

  private static func message(
    _ id: MessageID, in room: ConversationID, from sender: MemberID = "bob", _ text: String,
    at offset: Int64, _ sequence: Int64? = nil
  ) -> Message {
    Message(
      id: id, in: room, from: sender, text: text, serverTimestamp: time(start + offset),
      sequence: sequence)
  }

  /// Messages with tags, with attachments of each kind, with a list of those that stay, with more
  /// emoji than a record counts; one that expires, and one whose long text was edited.
  private static func addMarked(_ chat: borrowing StoreWriter) throws {
    let room: ConversationID = "marken"
    let at = time(start)
    var fading = message("t-1", in: room, "vergeht", at: 1)
    fading.expiresAt = time(farAhead + 1_000_000)
    let kept = MessageAttachment(id: "bleibt", kind: .image)
    var edited = message("t-2", in: room, String(repeating: "lang und breit ", count: 60), at: 2)
    edited.attachments = [kept, MessageAttachment(id: "geht", kind: .image)]
    var last = message("t-3", in: room, "Anlagen", at: 3)
    last.attachments = [
      MessageAttachment(
        id: "b", kind: .image, remoteURL: "https://x.example/b",
        thumbnailURL: "https://x.example/b/t", fileName: "b.png", remoteURLAt: at,
        thumbnailURLAt: at),
      MessageAttachment(id: "v", kind: .video), MessageAttachment(id: "a", kind: .audio),
      MessageAttachment(id: "o", kind: .other),
    ]
    let first = message("t-0", in: room, "siehe https://x.example", at: 0)
    for message in [first, fading, edited, last] { try chat.insert(message, as: .history) }
    try chat.receiveEdit(
      of: "t-2", in: room, text: "kurz", attachments: [kept], at: time(start + 9))
    for tag in [.link, .pinned, .starred, .own("rezept")] as [MessageTag] {
      try chat.setTag(tag, of: "t-0", in: room)
    }
    try chat.setTag(.starred, of: "t-3", in: room)
    try chat.removeTag(.starred, of: "t-3", in: room)
    for index in 0..<257 {
      try chat.receive(Reaction("e\(1000 + index)", from: "bob", at: at), to: "t-0", in: room)
    }
    try chat.receive(
      Reaction("z", from: "ann", at: at, serverName: "r-1"), to: "t-0", in: room)
    try chat.setOwnField(
      "lokal", [UInt8](repeating: 8, count: 300), of: .message("t-0", in: room), isLocal: true)
    try chat.receive([OwnField("zeit", [1], at: at)], of: .conversation("club"))
    try chat.setOwnField("notiz", [7], of: .conversation("club"), isLocal: true)
    try chat.setOwnField("notiz", [7], of: .member("bob"), isLocal: true)
  }

  /// Transfers in each state, and failures of the kinds that no other act has.
  private static func addTransfers(_ chat: borrowing StoreWriter) throws {
    let failures: [(String, TransferDirection, FailureKind)] = [
      ("b", .download, .other), ("v", .upload, .notFound), ("a", .download, .invalid),
    ]
    for (id, direction, kind) in failures {
      try chat.setTransfer(
        direction, to: .failed(SendFailure(kind, code: 7, text: "nicht da"), count: 1), of: id,
        message: "t-3", in: "marken")
    }
    try chat.setTransfer(.download, to: .queued, of: "o", message: "t-3", in: "marken")
  }

  /// Receipts of all kinds in a group in which all the others have read the first message: a mark
  /// up to a sequence, one told by the server, those made here, and a message that comes below.
  private static func addReceipts(_ chat: borrowing StoreWriter) throws {
    let room: ConversationID = "quittung"
    var group = ReceivedConversation(room, at: time(start))
    group.kind = .group
    group.hasAllMembers = true
    group.members = ["ann", "bob", "chen"].map {
      ReceivedConversation.Member(MemberID($0), joinedAt: time(start))
    }
    try chat.receive(group)
    try chat.insert(message("q-0", in: room, from: "ann", "gelesen?", at: 1, 1))
    try chat.insert(message("q-1", in: room, "ja", at: 3, 2))
    let receipts: [(MemberID, ReceivedReceipt.Extent)] = [
      ("bob", .upToSequence(1)), ("chen", .upTo("q-0")), ("ann", .upTo("q-0")),
    ]
    for (member, extent) in receipts {
      try chat.receive(ReceivedReceipt(in: room, of: member, .read, extent, time: time(start + 4)))
    }
    try chat.markDelivered(room)
    try chat.markRead(room)
    try chat.insert(message("q-2", in: room, "zu spät", at: 2))
  }

  /// Conversations with marks, and messages, that no other has.
  private static func addRooms(_ chat: borrowing StoreWriter) throws {
    var muted = message("s-2", in: "stumm", "@ann", at: 2)
    muted.mentions = ["ann"]
    try chat.insert(muted)
    // Alone in its conversation, it has a cell of its own.
    try chat.insert(
      message("l-0", in: "einzeln", String(repeating: "Wort für Wort ", count: 200), at: 0),
      as: .history)
    try chat.setMarkedUnread(true, of: "laut")
    var left = ReceivedConversation("fort", at: time(start))
    left.members = [.init("ann", isActive: false), .init("bob")]
    try chat.receive(left)
    try chat.insert(message("f-0", in: "fort", "bald weg", at: 0), as: .history)
    try chat.receiveRetraction(of: "f-0", in: "fort", at: time(start + 1))
    var group = ReceivedConversation("gruppe", at: time(start))
    group.kind = .group
    group.members = [.init("ann"), .init("bob")]
    try chat.receive(group)
    // A fact about a member of cells that is younger than the joining.
    var crowd = ReceivedConversation("crowd", at: time(start))
    crowd.members = [.init("früh", joinedAt: time(start - 5))]
    try chat.receive(crowd)
  }

  /// Entries of the kinds that no other act makes; all are held.
  static func addHeld(_ chat: borrowing StoreWriter) throws {
    try chat.retract("-NmX1wCTj-GXn3Kar7Oe", in: "bob")
    try chat.edit("o-4", in: "bob", text: "doch schon")
    try chat.removeReaction("👍", from: "m-3", in: "club")
    try chat.setAvatar("file://neu.png", of: "club")
    try chat.removeParticipants(["dina"], from: "club")
    try chat.setOwnField("farbe", [3], of: .conversation("club"))
    try chat.leave("gruppe")
    try chat.deleteConversation("leer")
  }
}
