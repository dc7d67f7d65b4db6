import PageFile

/// Reads the task of an outbox entry from the present state of the store.
struct TaskReader {
  let view: StoreView

  /// Returns the task of an entry; nil if it has nothing to tell any more.
  ///
  /// - Parameters:
  ///   - name: The name of the entry's conversation; nil if it has none.
  ///   - found: The message of the entry; nil if it is not in the conversation.
  ///   - form: The form in which receipts are told.
  ///   - doneByteCount: Returns how much of a running transfer is done.
  func task(
    _ record: OutboxRecord, in name: ConversationID?, of found: LocatedMessage?,
    form: PendingReceipt.Form, doneByteCount: (RunningTransfers.Key) -> Int64?
  ) throws(StoreError) -> OutboxTask? {
    if case .client(let name, let payload) = record.subject {
      return .client(name: name, payload: payload)
    }
    if case .setMemberField(let member, let time, let name) = record.subject {
      return Self.fieldTask(
        try view.directory.ownFields(member)[name], at: time, of: .member(try view.member(member)))
    }
    let number = record.conversation
    guard let name else { return nil }
    switch record.subject {
    case .send:
      return try composedMessage(found, in: name, number).map { .send($0) }
    case .edit(let id, let time):
      return try editTask(try message(found, orMoving: id, to: number), at: time, in: number)
    case .retract(let id):
      // The message may have been deleted here since.
      guard let (_, message, own) = try message(found, orMoving: id, to: number) else {
        return .retract(id)
      }
      return message.traits.isRetracted ? .retract(own) : nil
    case .react(let id, let emoji, let isRemoved):
      guard let (_, message, own) = try message(found, orMoving: id, to: number),
        !message.traits.isRetracted
      else { return nil }
      return .react(emoji: emoji, to: own, isRemoved: isRemoved)
    case .receipt(let kind):
      var cursor = Cursor(view.source, Schema.conversations)
      return try view.pendingReceipts.firstPendingReceipt(
        kind, of: number, name, try view.conversations.summary(number, &cursor),
        try view.receipts.receipts(number), as: form
      ).map { .receipt($0) }
    case .createConversation:
      var cursor = Cursor(view.source, Schema.conversations)
      return .createConversation(try view.list.wholeConversation(number, &cursor))
    case .deleteConversation: return .deleteConversation
    case .leaveConversation: return .leaveConversation
    case .changeMembers(let added, let removed):
      return .changeMembers(
        added: try view.conversations.names(of: added),
        removed: try view.conversations.names(of: removed))
    case .setTitle:
      return .setTitle(try view.conversations.details(number).title.text)
    case .setAvatar:
      return .setAvatar(try view.conversations.details(number).avatar.text)
    case .upload(let id, let attachment):
      guard let (_, message, own) = try message(found, orMoving: id, to: number),
        !message.traits.isRetracted
      else { return nil }
      let key = FactKey.key(number, own, attachment: attachment)
      guard let record = try view.facts.attachmentRecord(key.bytes) else { return nil }
      return .upload(record.state(key.bytes, of: own, in: name, doneByteCount))
    case .setMessageField(let id, let time, let field):
      return try fieldTask(id, found, field, at: time, in: name, number)
    case .setConversationField(let time, let field):
      return Self.fieldTask(
        try view.conversations.ownFields(number)[field], at: time, of: .conversation(name))
    case .client, .setMemberField: return nil
    }
  }

  /// Returns the task of an own field, or nil if another value counts by now.
  private static func fieldTask(
    _ register: OwnRegister?, at time: Int64, of owner: FieldOwner
  ) -> OutboxTask? {
    guard let register, register.time == time, !register.isLocal else { return nil }
    return .setOwnField(OwnField(register, isKind: register.name.isEmpty), of: owner)
  }

  /// Returns the task of an own field of a message.
  private func fieldTask(
    _ id: MessageID, _ found: LocatedMessage?, _ field: [UInt8], at time: Int64,
    in name: ConversationID, _ number: UInt32
  ) throws(StoreError) -> OutboxTask? {
    guard let (_, message, own) = try message(found, orMoving: id, to: number),
      !message.traits.isRetracted, let register = message.traits.ownFields[field],
      register.time == time, !register.isLocal
    else { return nil }
    var place = number
    if register.isLarge, found == nil {
      guard let source = try merged(id, into: number) else { return nil }
      place = source
    }
    let whole = try view.facts.whole(OwnFields(sorted: [register]), of: own, in: place)
    return Self.fieldTask(whole[field], at: time, of: .message(own, in: name))
  }

  /// Returns the number under which a message lies that is still being moved to a conversation.
  private func merged(_ id: MessageID, into number: UInt32) throws(StoreError) -> UInt32? {
    for (_, work) in try view.work.work() {
      guard case .merge(into: number, _) = work.kind,
        try view.messages.found(id, in: work.conversation) != nil
      else { continue }
      return work.conversation
    }
    return nil
  }

  /// Returns a message that was found here, or is still being moved here from a conversation that
  /// became this one.
  @inline(never)
  private func message(
    _ found: LocatedMessage?, orMoving id: MessageID, to number: UInt32
  ) throws(StoreError) -> LocatedMessage? {
    if let found { return found }
    guard let source = try merged(id, into: number) else { return nil }
    return try view.messages.found(id, in: source)
  }

  /// Returns a message as it was composed; pending edits have entries of their own.
  private func composedMessage(
    _ found: LocatedMessage?, in conversation: ConversationID, _ number: UInt32
  ) throws(StoreError) -> Message? {
    guard let (_, stored, own) = found, !stored.traits.marks.contains(.retracted) else {
      return nil
    }
    var version = stored.version
    if !stored.traits.pendingEdits.isEmpty,
      let original = try view.facts.versions(of: own, in: number).first(where: {
        $0.editTime == nil
      })
    {
      version = original
    }
    var message = Message(
      id: own, in: conversation, from: try view.member(stored.sender), text: version.text,
      localTime: stored.localTime.map { Timestamp(microseconds: $0) }, status: stored.status,
      replyTo: stored.replyTo)
    if let time = stored.traits.expiryTime { message.expiresAt = Timestamp(microseconds: time) }
    message.mentions = try view.conversations.names(of: version.mentions)
    message.attachments = try view.facts.attachments(of: own, in: number)
    let shared = stored.traits.ownFields.shared
    if !shared.isEmpty {
      message.setRare(\.ownFields, try view.facts.whole(shared, of: own, in: number))
    }
    return message
  }

  private func editTask(
    _ found: LocatedMessage?, at time: Int64, in number: UInt32
  ) throws(StoreError) -> OutboxTask? {
    guard let (_, stored, own) = found,
      stored.traits.pendingEdits.contains(time), !stored.traits.isRetracted
    else { return nil }
    let version =
      stored.traits.editTime == time
      ? stored.version
      : try view.facts.versions(of: own, in: number).first { $0.editTime == time }
    guard let version else { return nil }
    return .edit(
      own, text: version.text, mentions: try view.conversations.names(of: version.mentions),
      at: Timestamp(microseconds: time))
  }

  /// Returns the form of an entry that is shown to people.
  func shownEntry(_ record: OutboxRecord, _ ordinal: UInt64) throws(StoreError) -> OutboxEntry {
    let state: OutboxState =
      switch record.state {
      case .queued: .queued
      case .held: .held
      case .running(_, let expiry, let owner):
        .running(owner: owner, expiry: Timestamp(microseconds: expiry))
      case .waiting(let time, _): .waiting(until: Timestamp(microseconds: time))
      case .failed: .failed
      case .scheduled(let time): .scheduled(at: Timestamp(microseconds: time))
      }
    return OutboxEntry(
      id: OutboxEntry.ID(rawValue: ordinal), kind: record.subject.kind,
      conversation: try view.outbox.conversationName(of: record), message: record.subject.message,
      text: try shownText(record), state: state, isBlocked: try isBlocked(record, ordinal),
      attemptCount: Int(clamping: record.attemptCount), failure: record.failure,
      created: Timestamp(microseconds: record.created), token: record.token)
  }

  /// Returns true if an entry waits for another one that needs a decision.
  private func isBlocked(_ record: OutboxRecord, _ ordinal: UInt64) throws(StoreError) -> Bool {
    if record.isBlocked { return true }
    guard record.subject.isInOrder else { return false }
    let creation = try view.outbox.lane(record.conversation).creation
    guard creation != 0, creation != ordinal else { return false }
    return try view.outbox.indexedEntry(creation).isAside
  }

  private func shownText(_ record: OutboxRecord) throws(StoreError) -> String? {
    let number = record.conversation
    switch record.subject {
    case .send(let id):
      return try composedMessage(try view.messages.found(id, in: number), in: "", number)?.text
    case .edit(let id, let time):
      let found = try message(
        try view.messages.found(id, in: number), orMoving: id, to: number)
      guard case .edit(_, let text, _, _)? = try editTask(found, at: time, in: number) else {
        return nil
      }
      return text
    case .react(_, let emoji, _): return emoji
    case .setTitle: return try view.conversations.details(record.conversation).title.text
    case .setAvatar: return try view.conversations.details(record.conversation).avatar.text
    case .upload(_, let attachment): return attachment
    case .client(let name, _): return name
    case .setMessageField(_, _, let name), .setConversationField(_, let name),
      .setMemberField(_, _, let name):
      return name.isEmpty ? nil : String(decoding: name, as: UTF8.self)
    default: return nil
    }
  }
}

extension StoreView {
  var tasks: TaskReader { TaskReader(view: self) }
}

extension TaskReader {
  func slice(
    in conversation: ConversationID?, count: Int, from first: UInt64
  ) throws(StoreError) -> OutboxSlice {
    var found: [OutboxEntry] = []
    var next: OutboxEntry.ID?
    let swept = Set(try view.outbox.sweeps().map(\.conversation))
    func add(_ ordinal: UInt64, _ record: OutboxRecord) throws(StoreError) -> Bool {
      if swept.contains(record.conversation) { return true }
      if found.count == count {
        next = OutboxEntry.ID(rawValue: ordinal)
        return false
      }
      found.append(try shownEntry(record, ordinal))
      return true
    }
    guard let conversation else {
      try view.outbox.forEachEntry(from: first, add)
      return OutboxSlice(entries: found, next: next)
    }
    guard let number = try view.number(of: conversation) else {
      return OutboxSlice(entries: [], next: nil)
    }
    for ordinal in try view.outbox.ordinals(in: number, from: first, maximumCount: count) {
      guard try add(ordinal, try view.outbox.indexedEntry(ordinal)) else { break }
    }
    return OutboxSlice(entries: found, next: next)
  }
}
