/// A message as an application over another store would hold it: a plain value with every field,
/// which outlives the transaction that read it.
struct PeerMessage {
  /// Stands for "no sequence" in keys, where it sorts after any number.
  static let noSequence = Int64.max

  var conversation: Int64
  var isPending: Bool
  /// The server's time, or the local one until that is known.
  var time: Int64
  var sequence: Int64
  var id: String
  var sender: String
  var text: String
  var localTime: Int64?
  var status: UInt8
  var replyTo: String?
  var editedAt: Int64?
  var extras: MessageExtras?
}

extension PeerMessage {
  /// Returns the number of a conversation in the other stores, which an application has at hand.
  static func number(_ conversation: Int) -> Int64 { Int64(conversation) + 1 }

  init(_ message: ChatMessage) {
    conversation = Self.number(message.conversation)
    isPending = message.serverTime == nil
    time = message.serverTime ?? message.localTime ?? 0
    sequence = message.sequence ?? Self.noSequence
    id = message.id
    sender = message.sender
    text = message.text
    localTime = message.localTime
    status = message.status
    replyTo = message.replyTo
    editedAt = message.editedAt
    extras = message.extras
  }

  var serverTime: Int64? { isPending ? nil : time }
  var serverSequence: Int64? { sequence == Self.noSequence ? nil : sequence }

  @inline(__always)
  func fields(in asked: Int64, isNewID: Bool) -> MessageFields {
    MessageFields(
      idByteCount: id.utf8.count, senderByteCount: sender.utf8.count,
      textByteCount: text.utf8.count, serverTime: serverTime, sequence: serverSequence,
      localTime: localTime, status: status, replyToByteCount: replyTo?.utf8.count,
      editedAt: editedAt, extras: extras?.mixed ?? 0,
      isInConversation: conversation == asked, isNewID: isNewID)
  }

  /// The message as it was written.
  var whole: ChatMessage {
    ChatMessage(
      conversation: Int(conversation) - 1, id: id, sender: sender, text: text,
      serverTime: serverTime, sequence: serverSequence, localTime: localTime, status: status,
      replyTo: replyTo, editedAt: editedAt, extras: extras)
  }
}

extension Digest {
  /// Folds in messages oldest first, in whichever order they are given.
  @inline(__always)
  mutating func fold(_ messages: [PeerMessage], newestFirst: Bool, in conversation: Int64) {
    // Accessed in place: a copy of a message would cost a peer as much as some of its fields.
    unsafe messages.withUnsafeBufferPointer { buffer in
      let messages = unsafe buffer.span
      for step in messages.indices {
        let index = newestFirst ? messages.count - 1 - step : step
        let previous = newestFirst ? index + 1 : index - 1
        let isNewID = step == 0 || messages[index].id != messages[previous].id
        let whole = isExact ? Fingerprint.of(messages[index].whole) : 0
        fold(messages[index].fields(in: conversation, isNewID: isNewID).mixed, whole: whole)
      }
    }
  }

  @inline(__always)
  mutating func fold(_ message: PeerMessage, in conversation: Int64) {
    fold(
      message.fields(in: conversation, isNewID: true).mixed,
      whole: Fingerprint.of(message.whole))
  }

  @inline(__always)
  mutating func fold(_ conversations: [PeerConversation]) {
    for conversation in conversations {
      fold(conversation.fields.mixed, whole: conversation.fingerprint)
    }
  }
}

/// A conversation as an application over another store would hold it.
struct PeerConversation {
  var number: Int64
  var id: String
  var participants: [String]
  var title: String?
  var lastActivity: Int64?
  var unreadCount: Int64
  var messageCount: Int64
  var previewID: String?
  var previewSender: String?
  var previewText: String?
  var previewTime: Int64?
  var previewStatus: Int64?
}

extension PeerConversation {
  @inline(__always)
  var fields: ConversationFields {
    ConversationFields(
      participantCount: participants.count,
      participantByteCount: participants.reduce(0) { $0 + $1.utf8.count },
      titleByteCount: title?.utf8.count, lastActivity: lastActivity,
      unreadCount: Int(unreadCount), messageCount: Int(messageCount),
      previewIDByteCount: previewID?.utf8.count ?? 0,
      previewSenderByteCount: previewSender?.utf8.count ?? 0,
      previewTextByteCount: previewText?.utf8.count ?? 0, previewTime: previewTime)
  }

  var fingerprint: UInt64 {
    Fingerprint.of(
      participants: participants, title: title, previewID: previewID,
      previewSender: previewSender, previewText: previewText)
  }
}

/// The part of a message's text that a list of conversations shows.
enum ConversationPreview {
  private static let maximumByteCount = 160

  /// Returns the length of the preview, which ends at a character boundary.
  static func byteCount(of text: String) -> Int {
    guard text.utf8.count > maximumByteCount else { return text.utf8.count }
    let utf8 = text.utf8
    var end = utf8.index(utf8.startIndex, offsetBy: maximumByteCount)
    while end > utf8.startIndex, utf8[end] & 0xC0 == 0x80 { end = utf8.index(before: end) }
    return utf8.distance(from: utf8.startIndex, to: end)
  }
}

/// The changes that the messages of one transaction make to their conversation's summary.
struct SummaryChange {
  /// The index of the newest message.
  private(set) var newest: Int
  private var newestTime: Int64
  private(set) var count: Int64 = 0
  private(set) var unreadCount: Int64 = 0

  init(newest: Int, time: Int64) {
    self.newest = newest
    newestTime = time
  }

  mutating func add(_ index: Int, time: Int64, isUnread: Bool) {
    count += 1
    unreadCount += isUnread ? 1 : 0
    guard time >= newestTime else { return }
    newest = index
    newestTime = time
  }
}
