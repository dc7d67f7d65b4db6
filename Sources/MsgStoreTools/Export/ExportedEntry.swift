package import MsgStore

/// Something that waits to go out, with names where the trees have numbers.
package struct ExportedEntry: Sendable, Hashable {
  /// How it stands, without what means nothing in another store: leases and the times of attempts.
  package enum State: String, Sendable, Hashable, CaseIterable {
    case queued, held, running, waiting, failed
  }

  package var task = OutboxKind.client
  /// nil of the client's own work that is about none.
  package var conversation: ConversationID?
  /// Of what is about a message: its own name.
  package var message: MessageID?
  /// The time that an edit is named by.
  package var editTime: Timestamp?
  /// Of a reaction.
  package var emoji = ""
  package var isRemoved = false
  /// Of an upload.
  package var attachment = ""
  /// Members that have come or gone.
  package var added: [MemberID] = []
  package var removed: [MemberID] = []
  /// Of the client's own work.
  package var name = ""
  package var payload: [UInt8] = []
  /// Whatever it says, what is restored is held.
  package var state = State.queued
  /// nil: a new one.
  package var token: OutboxToken?
  /// nil: when it is restored.
  package var created: Timestamp?
  package var attemptCount: Int64 = 0
  package var failure: Failure?
  /// A checksum of what the last attempt has told; 0: it does not matter.
  package var contentSum: UInt64 = 0

  package init() {}
}

extension ExportedEntry {
  /// An entry in a conversation; who calls knows the names of members.
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
    default: break
    }
    state =
      switch record.state {
      case .queued: .queued
      case .held: .held
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
  /// What an entry is about; nil where it does not say.
  init?<E>(
    _ entry: ExportedEntry, members: ([MemberID]) throws(E) -> [UInt32]
  ) throws(E) {
    switch (entry.task, entry.message) {
    case (.send, let id?): self = .send(id)
    case (.edit, let id?):
      guard let time = entry.editTime else { return nil }
      self = .edit(id, at: time.microseconds)
    case (.unsend, let id?): self = .unsend(id)
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
    case (_, nil): return nil
    }
  }
}
