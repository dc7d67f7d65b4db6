/// The reference contents of every engine: the benchmark's own record of everything written.
///
/// A message is kept as a few numbers, so that ten million of them fit. Messages of a conversation
/// come in order, and their sequences are 1, 2, 3 …, so a thread is an array.
struct Reference {
  struct Entry {
    var time: Int64
    /// The message's `MessageFields.mixed`.
    var mixed: UInt64
    /// The fingerprint of all its bytes.
    var fingerprint: UInt64
  }

  struct Thread {
    var entries: [Entry] = []
    /// The sum of the fingerprints of all messages.
    var fingerprint: UInt64 = 0
    var summary: ConversationFields
    /// The newest message, which a list shows.
    var newest: ChatMessage?
    var isMuted = false
  }

  private(set) var threads: [Thread]
  private let conversations: [CorpusConversation]

  init(_ conversations: [CorpusConversation]) {
    self.conversations = conversations
    threads = conversations.map { conversation in
      Thread(
        summary: ConversationFields(
          participantCount: conversation.participants.count,
          participantByteCount: conversation.participants.reduce(0) { $0 + $1.utf8.count },
          titleByteCount: conversation.title?.utf8.count, lastActivity: nil, unreadCount: 0,
          messageCount: 0, previewIDByteCount: 0, previewSenderByteCount: 0,
          previewTextByteCount: 0, previewTime: nil))
    }
  }

  /// The thread that held the most messages at the end of the import.
  ///
  /// Workloads that write may let another one outgrow it.
  private(set) var hugeConversation = 0

  mutating func endImport() {
    hugeConversation =
      threads.indices.max { threads[$0].entries.count < threads[$1].entries.count } ?? 0
  }

  /// Adds a message that has its server time and the next sequence of its conversation.
  mutating func append(_ message: ChatMessage) {
    let time = message.serverTime ?? 0
    let entry = entry(of: message)
    threads[message.conversation].entries.append(entry)
    threads[message.conversation].fingerprint &+= entry.fingerprint
    threads[message.conversation].newest = message
    threads[message.conversation].summary.lastActivity = time
    threads[message.conversation].summary.messageCount += 1
    threads[message.conversation].summary.unreadCount += message.sender == localMember ? 0 : 1
    threads[message.conversation].summary.previewIDByteCount = message.id.utf8.count
    threads[message.conversation].summary.previewSenderByteCount = message.sender.utf8.count
    threads[message.conversation].summary.previewTextByteCount = message.text.utf8.count
    threads[message.conversation].summary.previewTime = time
  }

  mutating func append(_ messages: [ChatMessage]) {
    for message in messages { append(message) }
  }

  private func entry(of message: ChatMessage) -> Entry {
    let fields = MessageFields(
      idByteCount: message.id.utf8.count, senderByteCount: message.sender.utf8.count,
      textByteCount: message.text.utf8.count, serverTime: message.serverTime,
      sequence: message.sequence, localTime: message.localTime, status: message.status,
      replyToByteCount: message.replyTo?.utf8.count, editedAt: message.editedAt,
      extras: message.extras?.mixed ?? 0, isInConversation: true, isNewID: true)
    return Entry(
      time: message.serverTime ?? 0, mixed: fields.mixed, fingerprint: Fingerprint.of(message))
  }

  /// Returns the expected result of reading messages.
  func digest(of messages: [ChatMessage]) -> Digest {
    var digest = Digest(isExact: true)
    for message in messages { digest.fold(entry(of: message)) }
    return digest
  }

  /// Replaces a message at its place.
  mutating func replace(_ old: ChatMessage, by new: ChatMessage) {
    let index = Int(new.sequence ?? 1) - 1
    let entry = entry(of: new)
    threads[new.conversation].entries[index] = entry
    threads[new.conversation].fingerprint &-= Fingerprint.of(old)
    threads[new.conversation].fingerprint &+= entry.fingerprint
    if index == threads[new.conversation].entries.count - 1 {
      threads[new.conversation].newest = new
      threads[new.conversation].summary.previewTextByteCount = new.text.utf8.count
    }
  }

  mutating func mute(_ conversation: Int) {
    threads[conversation].isMuted = true
  }

  /// The number of unread messages in conversations that are not muted, and in muted ones.
  var unreadTotals: (unmuted: Int, muted: Int) {
    var totals = (unmuted: 0, muted: 0)
    for thread in threads where thread.isMuted { totals.muted += thread.summary.unreadCount }
    for thread in threads where !thread.isMuted { totals.unmuted += thread.summary.unreadCount }
    return totals
  }

  mutating func markRead(_ conversation: Int) {
    threads[conversation].summary.unreadCount = 0
  }

  /// Returns the digest of the messages in `range` of a thread; the range may reach beyond either
  /// end.
  func messages(_ range: Range<Int>, of conversation: Int) -> Digest {
    let entries = threads[conversation].entries
    var digest = Digest(isExact: true)
    for index in range.clamped(to: entries.indices) { digest.fold(entries[index]) }
    return digest
  }

  func tail(_ count: Int, of conversation: Int) -> Digest {
    let end = threads[conversation].entries.count
    return messages(end - count..<end, of: conversation)
  }

  /// Returns the digest of `count` messages: half before the time, half from it on.
  func around(_ time: Int64, count: Int, of conversation: Int) -> Digest {
    let entries = threads[conversation].entries
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].time < time { low = middle + 1 } else { high = middle }
    }
    return messages(low - count / 2..<low + (count - count / 2), of: conversation)
  }

  /// Returns the digest of the conversations with the newest activity; of those with the same time,
  /// the one that came last is the first.
  func list(count: Int) -> Digest {
    var digest = Digest(isExact: true)
    let active = threads.indices.filter { threads[$0].summary.lastActivity != nil }
      .sorted {
        (threads[$0].summary.lastActivity ?? 0, $0) > (threads[$1].summary.lastActivity ?? 0, $1)
      }
    for index in active.prefix(count) {
      let (thread, conversation) = (threads[index], conversations[index])
      digest.fold(
        thread.summary.mixed,
        whole: Fingerprint.of(
          participants: conversation.participants, title: conversation.title,
          previewID: thread.newest?.id, previewSender: thread.newest?.sender,
          previewText: thread.newest?.text))
    }
    return digest
  }
}

extension Digest {
  /// Folds in the expected result of reading one message.
  mutating func fold(_ entry: Reference.Entry) {
    fold(entry.mixed, whole: entry.fingerprint)
  }
}
