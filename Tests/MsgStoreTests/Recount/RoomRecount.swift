import MsgStore
import MsgStoreTools

/// What a conversation's messages and receipts come to.
struct RoomRecount {
  let conversation: ExportedConversation
  private(set) var messages: [ExportedMessage] = []
  private(set) var sequences: [ClosedRange<Int64>] = []
  private var receipts: [ExportedReceipts] = []
  private var marks: ExportedMarks?
  let localMember: MemberID?
  private let maximumInlineMemberCount: Int

  init(
    _ conversation: ExportedConversation, _ localMember: MemberID?, _ maximumInlineMemberCount: Int
  ) {
    self.conversation = conversation
    self.localMember = localMember
    self.maximumInlineMemberCount = maximumInlineMemberCount
  }

  mutating func read(_ chat: borrowing StoreSnapshot) throws {
    let id = conversation.id
    var messages: [ExportedMessage] = []
    try chat.forEachExportedMessage(in: id) { messages.append($0) }
    self.messages = messages
    receipts = try chat.exportedReceipts(of: id)
    marks = try chat.exportedMarks(of: id)
    sequences = try chat.exportedSequences(of: id, count: 100_000, after: nil)
  }

  // MARK: Order

  /// What of the messages does not stand where it belongs.
  var disorder: [String] {
    zip(messages, messages.dropFirst()).compactMap { above, below in
      Self.areInOrder(above, below) ? nil : "\"\(above.id)\" stands before \"\(below.id)\""
    }
  }

  /// Acknowledged messages by time, sequence, and name, one without a sequence behind those with
  /// one; then pending ones by the time they were written.
  private static func areInOrder(_ a: ExportedMessage, _ b: ExportedMessage) -> Bool {
    guard let time = a.serverTimestamp else {
      return b.serverTimestamp == nil
        && a.localTime ?? Timestamp(microseconds: 0) <= b.localTime ?? Timestamp(microseconds: 0)
    }
    guard let other = b.serverTimestamp else { return true }
    if time != other { return time < other }
    switch (a.sequence, b.sequence) {
    case (let a?, let b?) where a != b: return a < b
    case (.some, nil): return true
    case (nil, .some): return false
    default: return name(a).string.utf8.lexicographicallyPrecedes(name(b).string.utf8)
    }
  }

  /// The name that decides among messages of one place.
  private static func name(_ message: ExportedMessage) -> MessageID {
    message.serverName ?? message.id
  }

  // MARK: Summary

  /// The later of the newest server time and the newest time of a pending message.
  var lastActivity: Timestamp? {
    messages.map { $0.serverTimestamp ?? $0.localTime ?? Timestamp(microseconds: 0) }.max()
  }

  /// The time that the list shows it under; nil: it is not told how old it is.
  var listTime: Timestamp? { lastActivity ?? conversation.since ?? conversation.createdAt }

  /// The last message, but for those that had failed before something newer came.
  var preview: PreviewText? {
    let newest = messages.compactMap(\.serverTimestamp).max()
    return messages.last { message in
      guard message.serverTimestamp == nil, message.status == .failed, let newest else {
        return true
      }
      return message.localTime ?? Timestamp(microseconds: 0) >= newest
    }.map { message in
      // A list shows others' messages by the name that the server's order has.
      let id = message.sender == localMember ? message.id : Self.name(message)
      return PreviewText(message, id: id, status: status(of: message))
    }
  }

  // MARK: Unread messages

  var unreadCount: Int { messages.count(where: isUnread) }

  var unreadMentionCount: Int {
    messages.count { message in
      isUnread(message) && localMember.map(message.mentions.contains) ?? false
    }
  }

  /// Rules U-1 to U-3.
  private func isUnread(_ message: ExportedMessage) -> Bool {
    guard let localMember, message.sender != localMember else { return false }
    if message.arrival == .history || message.isSeen { return false }
    let told = receipts.first { $0.member == localMember }
    if let told, told.read.contains(where: { covers($0.position, message) }) { return false }
    if let told, told.readSequences.contains(where: { covers($0, message) }) { return false }
    guard let mark = marks?.readMark, covers(mark, message) else { return true }
    return message.isLate
  }

  /// Whether a mark lies at or behind a message.
  private func covers(_ mark: MessagePosition, _ message: ExportedMessage) -> Bool {
    guard let time = message.serverTimestamp?.microseconds else { return false }
    if time != mark.place.time { return time < mark.place.time }
    switch (message.sequence, mark.place.hasRank) {
    case (let sequence?, true) where sequence != mark.place.rank: return sequence < mark.place.rank
    case (.some, false): return true
    case (nil, true): return false
    default:
      let (name, other) = (Self.name(message).string.utf8, mark.id.string.utf8)
      return !other.lexicographicallyPrecedes(name)
    }
  }

  // MARK: Sequences

  func knows(_ sequence: Int64) -> Bool { sequences.contains { $0.contains(sequence) } }

  // MARK: Receipts

  /// The status of an own message: what the server has said, or what all others' receipts say, if
  /// that is more.
  func status(of message: ExportedMessage) -> MessageStatus {
    let stored = message.status ?? message.assumedStatus
    guard let time = message.serverTimestamp, message.sender == localMember,
      stored == .sent || stored == .delivered
    else { return stored }
    let others = conversation.members.filter { !$0.hasLeft && $0.member != localMember }
    // Somebody who came later was not meant by it.
    let recipients = others.filter { $0.joinedAt ?? time <= time }
    guard !recipients.isEmpty else { return stored }
    if recipients.allSatisfy({ has(.read, $0.member, message) }) { return .read }
    return recipients.allSatisfy { has(.delivered, $0.member, message) } ? .delivered : stored
  }

  /// The time at which an own message was read or received: the earliest that a status or a receipt
  /// of others has said, once the status says it of all.
  func time(_ kind: ReceiptKind, of message: ExportedMessage) -> Timestamp? {
    var times = [kind == .read ? message.readAt : message.deliveredAt]
    let status = status(of: message)
    if message.serverTimestamp != nil, message.sender == localMember,
      conversation.members.count <= maximumInlineMemberCount,
      status == .read || kind == .delivered && status == .delivered
    {
      for receipts in receipts where receipts.member != localMember {
        let steps = kind == .read ? receipts.read : receipts.read + receipts.delivered
        times += steps.filter { covers($0.position, message) }.map(\.time)
        let sequences =
          kind == .read
          ? receipts.readSequences : receipts.readSequences + receipts.deliveredSequences
        times += sequences.filter { covers($0, message) }.map(\.time)
      }
      for receipt in message.facts.receipts where receipt.member != localMember {
        times += kind == .read ? [receipt.readAt] : [receipt.readAt, receipt.deliveredAt]
      }
    }
    return times.compactMap { $0 }.min()
  }

  /// Whether a member has read or received a message; whoever has read it has it.
  private func has(_ kind: ReceiptKind, _ member: MemberID, _ message: ExportedMessage) -> Bool {
    let exact = message.facts.receipts.first { $0.member == member }
    if exact?.isRead ?? false || kind == .delivered && exact?.isDelivered ?? false { return true }
    guard let marks = receipts.first(where: { $0.member == member }) else { return false }
    let steps = kind == .read ? marks.read : marks.read + marks.delivered
    if steps.contains(where: { covers($0.position, message) }) { return true }
    let sequences =
      kind == .read ? marks.readSequences : marks.readSequences + marks.deliveredSequences
    return sequences.contains { covers($0, message) }
  }

  /// Whether a mark up to a sequence covers a message, by its sequence or by its place.
  private func covers(_ step: ExportedSequenceStep, _ message: ExportedMessage) -> Bool {
    if message.serverTimestamp == nil { return false }
    if let sequence = message.sequence, sequence <= step.sequence { return true }
    return step.position.map { covers($0, message) } ?? false
  }

  // MARK: Attachments

  /// The attachments that move, or wait for it, by conversation, message, and their own name.
  var transfers: [[String]] {
    messages.filter { !$0.isRetracted && !$0.isHidden }.flatMap { message in
      message.facts.attachments.filter { $0.upload.isMoving || $0.download.isMoving }.map {
        [conversation.id.string, message.id.string, $0.attachment.id]
      }
    }
  }
}

extension AttachmentTransfer {
  fileprivate var isMoving: Bool {
    switch self {
    case .queued, .running: true
    case .notRequested, .done, .failed: false
    }
  }
}

/// What a list shows of a message.
struct PreviewText: Equatable {
  let message: MessageID
  let sender: MemberID
  let text: String
  let isRetracted: Bool
  let attachment: AttachmentKind?
  let serverTimestamp: Timestamp?
  let status: MessageStatus

  init(_ preview: ConversationPreview) {
    message = preview.messageID
    sender = preview.sender
    text = preview.text
    isRetracted = preview.isRetracted
    attachment = preview.attachment?.kind
    serverTimestamp = preview.serverTimestamp
    status = preview.status
  }

  init(_ exported: ExportedMessage, id: MessageID, status: MessageStatus) {
    message = id
    self.status = status
    sender = exported.sender
    isRetracted = exported.isRetracted || exported.isHidden
    text = isRetracted ? "" : Self.cut(exported.text)
    let first = exported.facts.attachments.min { $0.index ?? 0 < $1.index ?? 0 }
    attachment = isRetracted ? nil : first?.attachment.kind
    serverTimestamp = exported.serverTimestamp
  }

  /// As many whole characters as fit 160 bytes.
  private static func cut(_ text: String) -> String {
    var cut = ""
    var byteCount = 0
    for character in text {
      byteCount += character.utf8.count
      if byteCount > 160 { break }
      cut.append(character)
    }
    return cut
  }
}
