package import MsgStore

/// An outbox entry, with names instead of the trees' numbers.
package struct ExportedEntry: Sendable, Equatable {
  /// The state of an entry, without leases and times of attempts, which mean nothing in another
  /// store.
  package enum State: String, Sendable, Hashable, CaseIterable {
    case queued, held, running, waiting, failed
  }

  package var task = OutboxKind.client
  /// The conversation; nil for the client's work that is about none.
  package var conversation: ConversationID?
  /// The message's own name, for entries about a message.
  package var message: MessageID?
  /// The time that names an edit, or a value of an own field.
  package var editTime: Timestamp?
  /// The emoji of a reaction.
  package var emoji = ""
  package var isRemoved = false
  /// The member whose own field was set.
  package var member: MemberID?
  /// The id of the attachment to upload.
  package var attachment = ""
  /// The members who have joined.
  package var added: [MemberID] = []
  package var removed: [MemberID] = []
  /// The name of the client's own work.
  package var name = ""
  package var payload: [UInt8] = []
  /// The name of an own field; empty for the kind.
  package var field = ""
  /// The state; a restored entry is held whatever this says.
  package var state = State.queued
  /// The token; a new one if nil.
  package var token: OutboxToken?
  /// The time of entering; that of the restore if nil.
  package var created: Timestamp?
  package var attemptCount: Int64 = 0
  package var failure: SendFailure?
  /// The checksum of the content that the last attempt sent; 0 if it does not matter.
  package var contentSum: UInt64 = 0

  package init() {}
}

extension ExportedEntry {
  /// Creates the exported form of an entry; the caller maps numbers to members.
  init<E>(
    _ record: OutboxRecord, in conversation: ConversationID?,
    member: (UInt32) throws(E) -> MemberID
  ) throws(E) {
    self.init()
    task = record.subject.kind
    self.conversation = conversation
    message = record.subject.message
    switch record.subject {
    case .edit(_, let time): editTime = Timestamp(microseconds: time)
    case .react(_, let emoji, let isRemoved): (self.emoji, self.isRemoved) = (emoji, isRemoved)
    case .upload(_, let attachment): self.attachment = attachment
    case .changeMembers(let added, let removed):
      self.added = try added.map(member)
      self.removed = try removed.map(member)
    case .client(let name, let payload): (self.name, self.payload) = (name, payload)
    case .setMessageField(_, let time, let name), .setConversationField(let time, let name):
      editTime = Timestamp(microseconds: time)
      field = String(decoding: name, as: UTF8.self)
    case .setMemberField(let number, let time, let name):
      self.member = try member(number)
      editTime = Timestamp(microseconds: time)
      field = String(decoding: name, as: UTF8.self)
    default: break
    }
    state =
      switch record.state {
      case .queued: .queued
      // Whatever is restored is held, so the time would be of no use.
      case .held, .scheduled: .held
      case .running: .running
      case .waiting: .waiting
      case .failed: .failed
      }
    token = record.token
    created = Timestamp(microseconds: record.created)
    attemptCount = Int64(clamping: record.attemptCount)
    failure = record.failure
    contentSum = record.contentSum
  }
}

extension OutboxSubject {
  /// Creates the subject of an exported entry, or nil if the entry lacks it.
  init?<E>(
    _ entry: ExportedEntry, members: ([MemberID]) throws(E) -> [UInt32]
  ) throws(E) {
    switch (entry.task, entry.message) {
    case (.send, let id?): self = .send(id)
    case (.edit, let id?):
      guard let time = entry.editTime else { return nil }
      self = .edit(id, at: time.microseconds)
    case (.retract, let id?): self = .retract(id)
    case (.react, let id?): self = .react(id, emoji: entry.emoji, isRemoved: entry.isRemoved)
    case (.upload, let id?): self = .upload(id, attachment: entry.attachment)
    case (.readReceipt, _): self = .receipt(.read)
    case (.deliveredReceipt, _): self = .receipt(.delivered)
    case (.createConversation, _): self = .createConversation
    case (.deleteConversation, _): self = .deleteConversation
    case (.leaveConversation, _): self = .leaveConversation
    case (.changeMembers, _):
      self = .changeMembers(
        added: try members(entry.added), removed: try members(entry.removed))
    case (.setTitle, _): self = .setTitle
    case (.setAvatar, _): self = .setAvatar
    case (.client, _): self = .client(name: entry.name, payload: entry.payload)
    case (.setMessageField, let id?):
      guard let time = entry.editTime else { return nil }
      self = .setMessageField(id, at: time.microseconds, name: Array(entry.field.utf8))
    case (.setMemberField, _):
      guard let time = entry.editTime, let member = entry.member,
        let number = try members([member]).first
      else { return nil }
      self = .setMemberField(number, at: time.microseconds, name: Array(entry.field.utf8))
    case (.setConversationField, _):
      guard let time = entry.editTime else { return nil }
      self = .setConversationField(at: time.microseconds, name: Array(entry.field.utf8))
    case (_, nil): return nil
    }
  }
}
