import MsgStore
import PageFile

/// Conversions from stored records to their exported form.
///
/// The caller maps numbers to members. An export finds the name of each or reports a corrupt store;
/// a salvage substitutes a name for a lost one.
extension ExportedMessage {
  /// Creates the exported form of a message, without its facts.
  ///
  /// - Parameter mark: The local read mark and its ordinal; nil for an unmarked thread.
  init<E>(
    _ message: StoredMessage, at position: MessagePosition, in id: ConversationID,
    mark: (position: MessagePosition, ordinal: UInt64)?, member: (UInt32) throws(E) -> MemberID
  ) throws(E) {
    self.init()
    let traits = message.traits
    conversation = id
    self.id = message.id(at: position)
    sender = try member(message.sender)
    text = message.text
    if position.place.isPending {
      sequence = message.pendingSequence
    } else {
      serverTimestamp = Timestamp(microseconds: position.place.time)
      sequence = position.place.sequence
    }
    localTime = Timestamp(known: message.localTime)
    status = message.status == assumedStatus ? nil : message.status
    replyTo = message.replyTo
    arrival = message.flags.contains(.history) ? .history : nil
    if let mark, position <= mark.position {
      isLate = message.markOrdinal == mark.ordinal
    }
    isSeen = traits.marks.contains(.seen)
    expiresAt = Timestamp(known: traits.expiryTime)
    editedAt = Timestamp(known: traits.editTime)
    editServerName = traits.editName
    mentions = try traits.mentions.map(member).sorted()
    isRetracted = traits.marks.contains(.retracted)
    retractedAt = Timestamp(known: traits.retractedAt)
    isHidden = traits.marks.contains(.hidden)
    deliveredAt = Timestamp(known: traits.deliveredAt)
    readAt = Timestamp(known: traits.readAt)
    attachmentsAt = Timestamp(known: traits.keptAttachments?.time)
    keptAttachments = traits.keptAttachments?.ids ?? []
    retryCount = Int64(clamping: traits.sending.retryCount)
    retryAt = Timestamp(known: traits.sending.retryAt)
    failure = traits.sending.failure
    pendingEdits = traits.pendingEdits.map(Timestamp.init(microseconds:))
    if !traits.names.isEmpty {
      serverName = position.id
      aliases = Array(traits.names.dropFirst())
    }
    revision = traits.revision
    sequencedAt = Timestamp(known: traits.sequencedTime)
    let isStoredComposed = message.flags.contains(.composed)
    isComposed = isStoredComposed == isAssumedComposed ? nil : isStoredComposed
    own = traits.ownFields
  }
}

extension ExportedWaiting {
  init(
    _ waiting: WaitingFacts?, _ facts: ExportedFacts, of id: MessageID,
    in conversation: ConversationID
  ) {
    self.init()
    self.conversation = conversation
    self.id = id
    self.facts = facts
    guard let waiting else { return }
    let traits = waiting.traits
    serverTimestamp = Timestamp(known: waiting.time)
    sequence = waiting.sequence
    status = waiting.status
    expiresAt = Timestamp(known: traits.expiryTime)
    isSeen = traits.marks.contains(.seen)
    isRetracted = traits.marks.contains(.retracted)
    retractedAt = Timestamp(known: traits.retractedAt)
    deliveredAt = Timestamp(known: traits.deliveredAt)
    readAt = Timestamp(known: traits.readAt)
    attachmentsAt = Timestamp(known: traits.keptAttachments?.time)
    keptAttachments = traits.keptAttachments?.ids ?? []
    aliases = traits.names
    revision = traits.revision
    sequencedAt = Timestamp(known: traits.sequencedTime)
    own = traits.ownFields
    own.takeLong(&self.facts)
    if isRetracted {
      // Facts that came before the retraction are never shown.
      self.facts.history = []
      self.facts.attachments = []
      self.facts.reactions = []
      own = OwnFields()
      self.facts.tags = []
      (attachmentsAt, keptAttachments) = (nil, [])
    }
  }
}

extension ExportedFacts {
  /// Adds one fact, given its key from the kind on, and its value.
  ///
  /// A fact that only says that a message is waited for is skipped. Returns false if the bytes are
  /// not a valid fact.
  mutating func take<E>(
    _ rest: Bytes, _ value: Bytes, member: (UInt32) throws(E) -> MemberID,
    tag: (UInt8) throws(E) -> MessageTag?
  ) throws(E) -> Bool {
    guard rest.count > 0, let kind = FactKind(rawValue: rest[0]) else { return false }
    let rest = rest.dropFirst(1)
    switch kind {
    case .version:
      guard let version = VersionRecord.version(rest, value) else { return false }
      var exported = ExportedVersion()
      exported.text = version.text
      exported.editedAt = Timestamp(known: version.editTime)
      exported.serverName = version.serverName
      exported.mentions = try version.mentions.map(member).sorted()
      history.append(exported)
    case .reaction, .removedReaction:
      guard let number = rest.bigEndianNumber(at: 0), rest.count > 4,
        rest.dropFirst(4).isValidUTF8, let record = ReactionRecord(value)
      else { return false }
      let reaction = Reaction(
        rest.dropFirst(4).repairedText(), from: try member(number),
        at: Timestamp(microseconds: record.time), serverName: record.serverName)
      reactions.append(ExportedReaction(reaction, isRemoved: record.isRemoved))
    case .attachment:
      guard let record = AttachmentRecord(value) else { return false }
      attachments.append(ExportedAttachment(record))
    case .receipt:
      guard rest.count == 4, let number = rest.bigEndianNumber(at: 0),
        let receipt = ExactReceipt(value)
      else { return false }
      receipts.append(ExportedReceipt(receipt, of: try member(number)))
    case .waitingMark:
      guard rest.count == 5, let kind = ReceiptKind(rawValue: rest[0]),
        let number = rest.bigEndianNumber(at: 1), let mark = WaitingMark(value)
      else { return false }
      var exported = ExportedWaitingMark()
      exported.member = try member(number)
      exported.kind = kind
      exported.time = Timestamp(known: mark.time)
      waitingMarks.append(exported)
    case .ownField:
      guard FactKey.isOwnFieldName(rest), let record = OwnFieldRecord(value) else { return false }
      ownFields.append(record.register(rest.array()))
    case .tag:
      guard let (number, record) = TagRecord.parts(rest, value), let tag = try tag(number) else {
        return false
      }
      tags.append(ExportedTag(tag, record))
    case .waiting, .emojiCount, .emojiRank:
      break
    }
    return true
  }

  /// Sorts the facts, which were added in the order of their keys, independently of member numbers.
  mutating func sort() {
    history.sort { a, b in
      a.editedAt == b.editedAt
        ? a.text.precedesByBytes(b.text)
        : b.editedAt.map { end in a.editedAt.map { $0 < end } ?? true } ?? false
    }
    attachments.sort { ($0.index ?? 0) < ($1.index ?? 0) }
    for index in attachments.indices where attachments[index].index == UInt32(clamping: index) {
      attachments[index].index = nil
    }
    reactions.sort { a, b in
      a.reaction.member == b.reaction.member
        ? a.reaction.emoji.precedesByBytes(b.reaction.emoji)
        : a.reaction.member < b.reaction.member
    }
    receipts.sort { $0.member < $1.member }
    // Numbers of the client's own tags differ between stores; names do not.
    tags.sort { a, b in
      let (first, second) = (a.tag.fixedNumber ?? .max, b.tag.fixedNumber ?? .max)
      return first == second ? a.tag.name.precedesByBytes(b.tag.name) : first < second
    }
    waitingMarks.sort { a, b in
      a.kind == b.kind ? a.member < b.member : a.kind.rawValue < b.kind.rawValue
    }
  }
}

extension OwnFields {
  /// Takes the values of long fields from among the facts, and leaves out fields whose values are
  /// lost.
  ///
  /// Returns true if none is lost.
  @discardableResult
  mutating func takeLong(_ facts: inout ExportedFacts) -> Bool {
    for register in facts.ownFields {
      if let known = self[register.name], register.packed.precedes(known) { continue }
      put(register)
    }
    facts.ownFields = []
    let lost = all.filter { $0.isLarge }
    for register in lost { forget(register.name) }
    return lost.isEmpty
  }
}

extension ExportedAttachment {
  fileprivate init(_ record: AttachmentRecord) {
    self.init(record.attachment)
    index = record.index
    upload = record.upload
    download = record.download
    unconfirmed = record.composed
    failedUploadCount = Int64(record.failureCounts.uploads)
    failedDownloadCount = Int64(record.failureCounts.downloads)
  }
}

extension ExportedReceipt {
  fileprivate init(_ receipt: ExactReceipt, of member: MemberID) {
    self.init()
    self.member = member
    isDelivered = receipt.isDelivered
    deliveredAt = Timestamp(known: receipt.deliveredAt)
    isRead = receipt.isRead
    readAt = Timestamp(known: receipt.readAt)
  }
}

extension ReceiptSteps {
  var exported: [ExportedStep] {
    steps.map { ExportedStep($0.position, Timestamp(known: $0.time)) }
  }

  fileprivate var exportedSequences: [ExportedSequenceStep] {
    sequences.map { step in
      var exported = ExportedSequenceStep()
      exported.sequence = step.sequence
      exported.time = Timestamp(known: step.time)
      exported.position = step.position
      return exported
    }
  }
}

extension ExportedMarks {
  init(_ own: ConversationReceipts, readMark: MessagePosition?, of conversation: ConversationID) {
    self.init()
    self.conversation = conversation
    self.readMark = readMark
    deliveredMark = own.deliveredMark
    confirmedRead = own.confirmedRead
    confirmedDelivered = own.confirmedDelivered
    read = own.readTimes.exported
    delivered = own.deliveredTimes.exported
  }
}

extension ExportedReceipts {
  init(_ record: ReceiptRecord, of member: MemberID, in conversation: ConversationID) {
    self.init()
    self.conversation = conversation
    self.member = member
    read = record.read.exported
    delivered = record.delivered.exported
    readSequences = record.read.exportedSequences
    deliveredSequences = record.delivered.exportedSequences
  }
}

extension Timestamp {
  /// Creates a timestamp, or nil if the time is not known.
  init?(known microseconds: Int64?) {
    guard let microseconds else { return nil }
    self.init(microseconds: microseconds)
  }
}
