package import PageFile

/// A message that was looked up by one of its names: its position, the message, and its own name.
package typealias LocatedMessage = (
  position: MessagePosition, message: StoredMessage, own: MessageID
)

/// The unpacked record of a message, which can be changed and merged.
///
/// The bytes of a `MessageRecord` belong to a page; this type owns its fields.
package struct StoredMessage: Equatable {
  /// Only `history` and `composed` are kept here.
  ///
  /// The other flags follow from the fields.
  package var flags: MessageRecord.Flags
  package var status: MessageStatus
  package var sender: UInt32
  package var localTime: Int64?
  /// The sequence of a pending message.
  ///
  /// The place of an acknowledged one has its sequence.
  package var pendingSequence: Int64?
  package var replyTo: MessageID?
  package var markOrdinal: UInt64?
  package var traits = MessageTraits()
  package var text: String

  static let kept: MessageRecord.Flags = [.history, .composed]

  @inline(never)
  package init(
    flags: MessageRecord.Flags = [], status: MessageStatus, sender: UInt32, text: String,
    localTime: Int64? = nil, replyTo: MessageID? = nil
  ) {
    self.flags = flags
    self.status = status
    self.sender = sender
    self.text = text
    self.localTime = localTime
    self.replyTo = replyTo
  }

  /// Unpacks a record at a place.
  ///
  /// Returns nil if its text or its traits are corrupt.
  package init?(_ record: MessageRecord, at place: Place) {
    var text = ByteBuffer(capacity: record.textByteCount)
    guard record.appendText(to: &text), let traits = record.traits() else { return nil }
    self.init(
      flags: record.flags.intersection(Self.kept), status: record.status, sender: record.sender,
      // Unsafe: validated by `appendText`.
      text: unsafe text.bytes.uncheckedText())
    localTime = record.localTime(at: place)
    pendingSequence = place.isPending ? record.pendingSequence : nil
    replyTo = record.replyTo
    markOrdinal = record.markOrdinal
    self.traits = traits
  }

  /// Appends the record of a message at a place.
  @inline(never)
  func append(at place: Place, to buffer: inout ByteBuffer) {
    let textByteCount = text.utf8.count
    let hasRest = traits.bits != [] || replyTo != nil
    if textByteCount >= TextCompression.byteCountMin || hasRest {
      return appendRich(at: place, to: &buffer)
    }
    // Most messages have only a short text, which is written directly to its destination.
    var record = MessageRecord(
      flags: flags, status: status, sender: sender, textByteCount: textByteCount, payload: .empty)
    complete(&record, at: place)
    record.append(to: &buffer)
    buffer.append(text)
  }

  /// Appends the record of a placed message with no rare field and a short text, as `append` does.
  static func appendPlain(
    _ text: String, from sender: UInt32, _ status: MessageStatus, _ flags: MessageRecord.Flags,
    localTime: Int64?, markOrdinal: UInt64?, at place: Place, to buffer: inout ByteBuffer
  ) -> MessageRecord {
    var record = MessageRecord(
      flags: flags, status: status, sender: sender, textByteCount: text.utf8.count,
      payload: .empty)
    record.setLocalTime(localTime, at: place)
    if let markOrdinal { record.markOrdinal = markOrdinal }
    record.append(to: &buffer)
    buffer.append(text)
    return record
  }

  private func complete(_ record: inout MessageRecord, at place: Place) {
    record.setLocalTime(localTime, at: place)
    if place.isPending { record.pendingSequence = pendingSequence }
    record.markOrdinal = markOrdinal
  }

  @inline(never)
  private func appendRich(at place: Place, to buffer: inout ByteBuffer) {
    var text = ByteBuffer(capacity: text.utf8.count)
    text.append(self.text)
    var block = ByteBuffer(capacity: 0)
    let isCompressed = TextCompression.compress(text.bytes, to: &block)
    var record = MessageRecord(
      flags: flags, status: status, sender: sender, textByteCount: text.count,
      payload: isCompressed ? block.bytes : text.bytes)
    if isCompressed { record.flags.insert(.compressed) }
    complete(&record, at: place)
    var reply = ByteBuffer(capacity: 0)
    if let replyTo {
      reply.append(replyTo)
      record.replyBytes = reply.bytes
      record.flags.insert(.reply)
    }
    var rest = ByteBuffer(capacity: 0)
    if !traits.isEmpty {
      traits.append(to: &rest)
      record.traitsBytes = rest.bytes
      record.flags.insert(.traits)
    }
    record.append(to: &buffer)
  }

  package static func == (a: StoredMessage, b: StoredMessage) -> Bool {
    a.flags == b.flags && a.status == b.status && a.sender == b.sender
      && a.localTime == b.localTime && a.pendingSequence == b.pendingSequence
      && a.replyTo == b.replyTo && a.markOrdinal == b.markOrdinal && a.traits == b.traits
      && a.text.hasSameBytes(as: b.text)
  }

  /// Returns the message's own name, even if the key has another.
  package func id(at position: MessagePosition) -> MessageID { traits.names.first ?? position.id }

  /// Removes everything that a retracted message must not keep.
  ///
  /// Id, place, sender, times and status stay.
  @inline(never)
  mutating func erase() {
    text = ""
    replyTo = nil
    traits.marks.remove([.hidden, .versions, .reactions, .attachments, .tagged])
    traits.marks.insert(.retracted)
    traits.editTime = nil
    traits.editName = nil
    traits.reactionCounts = nil
    traits.ownFields = OwnFields()
    traits.tags = []
    traits.keptAttachments = nil
    traits.mentions = []
    traits.pendingEdits = []
    traits.sending.failure = nil
    flags.remove(.composed)
  }
}

/// One version of a message's text.
///
/// Versions are totally ordered: the original comes before all edits, edits are ordered by time,
/// and versions of equal time by the bytes of the text. The greatest version is shown, so all
/// stores that know the same versions show the same one. Two versions with the same time and text
/// are one, with the mentions of both and the greater of their ids.
package struct TextVersion: Equatable {
  /// nil for the original.
  package var editTime: Int64?
  package var text: String
  /// The numbers of the mentioned members, ascending.
  package var mentions: [UInt32]
  /// The server's own id of the edit, if it has told one.
  package internal(set) var serverName: MessageID?

  @inline(never)
  package init(
    editTime: Int64?, text: String, mentions: [UInt32], serverName: MessageID? = nil
  ) {
    self.editTime = editTime
    self.text = text
    self.mentions = mentions
    self.serverName = serverName
  }

  func precedes(_ other: TextVersion) -> Bool {
    if editTime != other.editTime {
      guard let editTime else { return true }
      guard let otherTime = other.editTime else { return false }
      return editTime < otherTime
    }
    return text.precedesByBytes(other.text)
  }

  /// Returns true if both have the same time and text.
  @inline(never)
  func isSame(as other: TextVersion) -> Bool {
    editTime == other.editTime && text.hasSameBytes(as: other.text)
  }

  package static func == (a: TextVersion, b: TextVersion) -> Bool {
    a.isSame(as: b) && a.mentions == b.mentions && a.serverName == b.serverName
  }

  /// Returns this version with the mentions of both, and the greater id.
  func union(_ other: TextVersion) -> TextVersion {
    var result = self
    if mentions != other.mentions {
      let all = Set(mentions).union(other.mentions).sorted()
      result.mentions = Array(all.prefix(MessageTraits.maximumMentionCount))
    }
    if let name = other.serverName, !StoreDefect.editNameLost.isPlanted {
      result.serverName = max(name, serverName ?? name)
    }
    return result
  }
}

extension StoredMessage {
  /// The version of the text that is shown.
  var version: TextVersion {
    get {
      TextVersion(
        editTime: traits.editTime, text: text, mentions: traits.mentions,
        serverName: traits.editName)
    }
    set {
      traits.editTime = newValue.editTime
      text = newValue.text
      traits.mentions = newValue.mentions
      traits.editName = newValue.editTime == nil ? nil : newValue.serverName
    }
  }
}

extension StoredMessage {
  /// Appends the record of a message, which depends on its place, and asserts that it decodes to
  /// the same value.
  package func appendChecked(at place: Place, to buffer: inout ByteBuffer) {
    let start = buffer.count
    append(at: place, to: &buffer)
    assert(
      MessageRecord(buffer.bytes.dropFirst(start)).flatMap { StoredMessage($0, at: place) } == self,
      "StoredMessage: decoded record differs from the written one")
  }
}
