import MsgStore
import PageFile
import Testing

/// A group of "me", "you", "ann" and "bob" in "room".
func groupStore(
  _ directory: MemoryDirectory = MemoryDirectory(), localMember: MemberID? = "me",
  packs: Bool = true, packing: PackingSizes = .usual
) throws -> MessageStore {
  let store = try memoryStore(directory, localMember: localMember, packs: packs, packing: packing)
  try store.write {
    try $0.putConversation("room", participants: ["me", "you", "ann", "bob"])
  }
  return store
}

func receipt(
  _ member: MemberID, _ kind: ReceiptKind, upTo id: MessageID, at moment: Int64? = nil
) -> ReceivedReceipt {
  ReceivedReceipt(in: "room", of: member, kind, .upTo(id), time: moment.map { time($0) })
}

func receipt(
  _ member: MemberID, _ kind: ReceiptKind, _ ids: [MessageID], at moment: Int64? = nil
) -> ReceivedReceipt {
  ReceivedReceipt(in: "room", of: member, kind, .messages(ids), time: moment.map { time($0) })
}

extension MessageStore {
  func unread() throws -> Int? { try read { try $0.conversation("room")?.unreadCount } }

  func status(_ id: MessageID) throws -> MessageStatus? {
    try read { try $0.message(id, in: "room")?.status }
  }

  func delivery(_ id: MessageID) throws -> Delivery? {
    try read { try $0.delivery(of: id, in: "room") }
  }

  func readers(_ id: MessageID) throws -> [MemberReceipt] {
    try read { try $0.readers(of: id, in: "room") }
  }

  func pending(_ kind: ReceiptKind, as form: PendingReceipt.Form) throws -> [PendingReceipt] {
    try read { try $0.pendingReceipts(in: "room", kind, as: form) }
  }

  func pendingRooms(_ kind: ReceiptKind) throws -> [ConversationID] {
    try read { try $0.conversationsWithPendingReceipts(kind) }
  }

  /// Where the first unread message is among those around it.
  func firstUnread() throws -> MessageID? {
    try read { chat in
      guard try chat.conversation("room")?.unreadCount != 0 else { return nil }
      return try chat.thread("room").firstUnread(count: 1).first?.id
    }
  }
}
