import PageFile

/// Changes the attributes of a conversation for the local member.
///
/// Each is a register with a provisional time, which is later than the time of the replaced value.
///
/// An act that changes nothing writes nothing.
struct ConversationActs: TransactionPart {
  let transaction: Transaction

  func setTitle(_ title: String?, of id: ConversationID) throws(StoreError) -> Bool {
    try Conversations.validate(title: title, limit: ConversationDetails.maximumTitleByteCount)
    let conversation = try memberConversation(id)
    let known = try transaction.conversations.newestServerTime(in: conversation)
    let isChanged = try transaction.conversations.update(conversation) { new in
      if new.details.title.hasText(title) { return }
      let time = Conversations.provisionalTime(after: known, new.details.newestTime)
      new.details.title = TextRegister(title, time: time)
    }
    if isChanged { try transaction.outboxEntering.enterState(.setTitle, of: conversation.number) }
    return isChanged
  }

  func setAvatar(_ avatar: String?, of id: ConversationID) throws(StoreError) -> Bool {
    try Conversations.validate(avatar: avatar, limit: ConversationDetails.maximumAvatarByteCount)
    let conversation = try memberConversation(id)
    let known = try transaction.conversations.newestServerTime(in: conversation)
    let isChanged = try transaction.conversations.update(conversation) { new in
      if new.details.avatar.hasText(avatar) { return }
      let time = Conversations.provisionalTime(after: known, new.details.newestTime)
      new.details.avatar = TextRegister(avatar, time: time)
    }
    if isChanged {
      try transaction.outboxEntering.enterState(.setAvatar, of: conversation.number)
    }
    return isChanged
  }

  func addParticipants(
    _ participants: [MemberID], to id: ConversationID
  ) throws(StoreError) -> Bool {
    try Conversations.validateParticipants(participants)
    let conversation = try groupConversation(id)
    let details = try view.conversations.details(conversation.number)
    var old = MembershipChange(view, conversation.number, details.roster)
    let count = try details.participantCount + newcomerCount(participants, to: &old)
    guard count <= ConversationDetails.maximumParticipantCount else {
      throw .input(
        .tooMany(
          .participants,
          count: count, limit: ConversationDetails.maximumParticipantCount))
    }
    let numbers = try transaction.memberNumbers(of: participants)
    let known = try transaction.conversations.newestServerTime(in: conversation)
    var added: [UInt32] = []
    for number in numbers.sorted() where try old.member(number)?.isActive != true {
      added.append(number)
    }
    let isChanged = try transaction.conversations.update(conversation) { (new) throws(StoreError) in
      try transaction.conversations.join(numbers, isLater: true, after: known, &new)
    }
    try transaction.outboxEntering.enterMembers(
      added: added, removed: [], of: conversation.number)
    return isChanged
  }

  /// Counts those who do not take part yet.
  ///
  /// Assigns no numbers.
  private func newcomerCount(
    _ participants: [MemberID], to members: inout MembershipChange
  ) throws(StoreError) -> Int {
    var count = 0
    for participant in Set(participants) {
      let number = try view.number(of: participant)
      if let number, try members.member(number)?.isActive == true { continue }
      count += 1
    }
    return count
  }

  func removeParticipants(
    _ participants: [MemberID], from id: ConversationID
  ) throws(StoreError) -> Bool {
    try Conversations.validateParticipants(participants)
    let conversation = try groupConversation(id)
    let numbers = try transaction.memberNumbers(of: participants)
    let roster = try view.conversations.details(conversation.number).roster
    var old = MembershipChange(view, conversation.number, roster)
    var removed: [UInt32] = []
    for number in numbers.sorted() where try old.member(number)?.isActive == true {
      removed.append(number)
    }
    let known = try transaction.conversations.newestServerTime(in: conversation)
    let isChanged = try transaction.conversations.update(conversation) { (new) throws(StoreError) in
      try transaction.conversations.leave(numbers, after: known, &new)
    }
    try transaction.outboxEntering.enterMembers(
      added: [], removed: removed, of: conversation.number)
    return isChanged
  }

  func leave(_ id: ConversationID) throws(StoreError) -> Bool {
    guard let localMember else { throw .noLocalMember }
    let conversation = try transaction.conversations.knownConversation(id)
    let details = try view.conversations.details(conversation.number)
    if details.kind == .direct { throw .conversation(.direct, details.id) }
    let known = try transaction.conversations.newestServerTime(in: conversation)
    let isChanged = try transaction.conversations.update(conversation) { (new) throws(StoreError) in
      if try new.members.hasLeft(localMember) { return }
      let time = Conversations.provisionalTime(
        after: known, new.details.newestTime, try new.members.lastTime())
      try new.members.merge(.init(localMember, time: time, isActive: false))
    }
    if isChanged,
      try !transaction.outboxEntering.isUnknownToServer(conversation.number)
    {
      try transaction.outboxEntering.enter(.leaveConversation, of: conversation.number)
    }
    return isChanged
  }

  /// Mutes a conversation, until a time or until this is cleared, or clears it.
  ///
  /// Returns true if anything changed.
  func setMuted(
    _ isMuted: Bool, until end: Timestamp?, of id: ConversationID
  ) throws(StoreError) -> Bool {
    try end?.validate()
    let conversation = try transaction.conversations.knownConversation(id)
    var mute = isMuted ? Mute.on : .off
    if isMuted, let end { mute = .until(end.microseconds, hasEnded: false) }
    let details = try view.conversations.details(conversation.number)
    if details.mute(conversation.summary.marks) == mute { return false }
    let known = try transaction.conversations.newestServerTime(in: conversation)
    return try transaction.conversations.update(conversation) { new in
      new.details.mutedAt = Conversations.provisionalTime(after: known, new.details.newestTime)
      new.mute = mute
    }
  }

  /// Sets or clears the mark pinned, archived, or marked as unread.
  ///
  /// Returns true if anything changed.
  func set(
    _ mark: ConversationSummary.Flags, _ path: WritableKeyPath<ConversationDetails, Int64?>,
    to isSet: Bool, of id: ConversationID
  ) throws(StoreError) -> Bool {
    try set(mark, path, to: isSet, of: try transaction.conversations.knownConversation(id))
  }

  func set(
    _ mark: ConversationSummary.Flags, _ path: WritableKeyPath<ConversationDetails, Int64?>,
    to isSet: Bool, of conversation: OpenConversation
  ) throws(StoreError) -> Bool {
    if conversation.summary.marks.contains(mark) == isSet { return false }
    let known = try transaction.conversations.newestServerTime(in: conversation)
    return try transaction.conversations.update(conversation) { new in
      new.details[keyPath: path] = Conversations.provisionalTime(
        after: known, new.details.newestTime)
      if isSet { new.marks.insert(mark) } else { new.marks.remove(mark) }
    }
  }

  func setDraft(
    _ text: String?, replyTo: MessageID?, in id: ConversationID
  ) throws(StoreError) -> Bool {
    let byteCount = text?.utf8.count ?? 0
    guard byteCount <= TextCompression.maximumTextByteCount else {
      throw .input(
        .tooLong(.text, byteCount: byteCount, limit: TextCompression.maximumTextByteCount))
    }
    try replyTo?.validate()
    let conversation = try transaction.conversations.knownConversation(id)
    let old = try view.conversations.draftRecord(conversation.number)
    let hasNothing = text.map(\.isEmpty) ?? true && replyTo == nil
    let time = Conversations.provisionalTime(
      after: old?.time, try transaction.conversations.newestServerTime(in: conversation),
      try view.conversations.details(conversation.number).newestTime)
    let draft = DraftRecord(hasNothing ? nil : text ?? "", replyTo: replyTo, time: time)
    if let old, old.replyTo == draft.replyTo, hasSameText(old.text, draft.text) { return false }
    if old == nil && hasNothing { return false }
    try transaction.conversations.writeDraft(draft, of: conversation)
    return true
  }

  private func hasSameText(_ a: String?, _ b: String?) -> Bool {
    guard let a, let b else { return a == nil && b == nil }
    return a.hasSameBytes(as: b)
  }

  /// Returns a conversation that the local member may change for all who take part.
  func memberConversation(_ id: ConversationID) throws(StoreError) -> OpenConversation {
    let conversation = try transaction.conversations.knownConversation(id)
    if try transaction.hasLeft(conversation) {
      throw .conversation(.notAMember, try transaction.name(of: conversation.number))
    }
    return conversation
  }

  /// Returns a group whose members the local member may change.
  private func groupConversation(_ id: ConversationID) throws(StoreError) -> OpenConversation {
    let conversation = try memberConversation(id)
    let details = try view.conversations.details(conversation.number)
    if details.kind == .direct { throw .conversation(.direct, details.id) }
    return conversation
  }
}

extension ConversationActs {
  /// Deletes a conversation for the local member.
  ///
  /// Returns the messages that never reached the server; nil if there is no such conversation.
  func deleteConversation(_ id: ConversationID) throws(StoreError) -> [MessageID]? {
    guard let conversation = try transaction.existingConversation(id),
      !conversation.summary.marks.contains(.hidden)
    else { return nil }
    var withdrawn: [MessageID] = []
    // Not a time of this device: messages that reached the server meanwhile were not deleted.
    var time = max(conversation.summary.deletedUpTo ?? 0, 0)
    let numbers =
      try [conversation.number] + transaction.deletions.merging(into: conversation.number)
    for number in numbers {
      withdrawn += try transaction.deletions.pending(in: number)
      let newest = try flushed().messages.lastPosition(upTo: .firstPending, in: number)
      time = max(time, newest?.place.time ?? .min)
    }
    let isUnknown = try transaction.outboxEntering.isUnknownToServer(conversation.number)
    try transaction.deletions.forget(conversation, at: time, isLocal: true)
    try transaction.deletions.clear(conversation, upTo: time)
    if !isUnknown,
      let left = try transaction.existingConversation(id)
    {
      try transaction.outboxEntering.enter(.deleteConversation, of: left.number)
    }
    return withdrawn
  }
}

extension Transaction {
  var conversationActs: ConversationActs { ConversationActs(transaction: self) }
}

/// Creates conversations, or finds existing ones.
extension ConversationActs {
  func putConversation(
    _ id: ConversationID, participants: [MemberID], title: String?, kind: ConversationKind?
  ) throws(StoreError) -> Bool {
    try id.validate()
    try Conversations.validateParticipants(participants)
    try Conversations.validate(title: title, limit: ConversationDetails.maximumTitleByteCount)
    transaction.hasAdded = true
    let isNew = try transaction.existingConversation(id) == nil
    let conversation = try transaction.conversation(id) { ConversationDetails(id: id) }
    let wasHidden = conversation.summary.marks.contains(.hidden)
    conversation.reveal()
    let numbers = try transaction.memberNumbers(of: participants)
    let known = try transaction.conversations.newestServerTime(in: conversation)
    let isChanged = try transaction.conversations.update(conversation) { (new) throws(StoreError) in
      let guess: ConversationKind = participants.count == 2 ? .direct : .group
      let kind = kind ?? (new.details.kind == .unknown ? guess : new.details.kind)
      new.details.kind = max(kind, new.details.kind)
      if !new.details.title.hasText(title) {
        let time = Conversations.provisionalTime(after: known, new.details.newestTime)
        new.details.title = TextRegister(title, time: time)
      }
      let isFirst = try new.members.isEmpty()
      let staying = Set(numbers)
      let gone = try new.members.members().active.filter { !staying.contains($0) }
      try transaction.conversations.join(numbers, isLater: !isFirst, after: known, &new)
      try transaction.conversations.leave(gone, after: known, &new)
      try closeWithoutLocalMember(staying, &new)
    }
    return isNew || wasHidden || isChanged
  }

  /// Notes that a list of all participants does not have the local member, so that nothing is told
  /// in their name.
  ///
  /// An empty list says nothing of the local member.
  private func closeWithoutLocalMember(
    _ participants: Set<UInt32>, _ new: inout Conversations.Attributes
  ) throws(StoreError) {
    guard let localMember, !participants.isEmpty, !participants.contains(localMember),
      try !new.members.hasLeft(localMember), let time = try new.members.lastTime()
    else { return }
    try new.members.mergeComplete(participants, time: time)
  }

  /// Creates a group.
  ///
  /// Throws `conversation(.exists)` if the name is taken.
  func createGroup(
    _ id: ConversationID?, participants: [MemberID], title: String?, avatar: String?
  ) throws(StoreError) -> Conversation {
    try id?.validate()
    let participants = try withLocalMember(participants)
    try Conversations.validateParticipants(participants)
    try Conversations.validate(title: title, limit: ConversationDetails.maximumTitleByteCount)
    try Conversations.validate(avatar: avatar, limit: ConversationDetails.maximumAvatarByteCount)
    if let id, try transaction.existingConversation(id) != nil { throw .conversation(.exists, id) }
    let group = try makeConversation(id, .group, participants)
    _ = try transaction.conversations.update(group) { (new) throws(StoreError) in
      let time = Conversations.provisionalTime()
      if title != nil { new.details.title = TextRegister(title, time: time) }
      if avatar != nil { new.details.avatar = TextRegister(avatar, time: time) }
    }
    return try stored(group)
  }

  func conversation(with participants: [MemberID]) throws(StoreError) -> Conversation {
    let participants = try withLocalMember(participants)
    guard !participants.isEmpty else { throw .input(.noParticipants) }
    if localMember != nil && Set(participants).count == 1 { throw .input(.onlyOneself) }
    try Conversations.validateParticipants(participants)
    let members = try transaction.memberNumbers(of: participants)
    let kind: ConversationKind = members.count <= 2 ? .direct : .group
    guard let found = try existingConversation(kind, with: members) else {
      return try stored(makeConversation(nil, kind, participants))
    }
    found.reveal()
    return try stored(found)
  }

  /// Returns the given participants and the local member.
  func withLocalMember(_ participants: [MemberID]) throws(StoreError) -> [MemberID] {
    guard let localMember else { return participants }
    let local = try view.within { () throws(StoreError) in try view.member(localMember) }
    return participants.contains(local) ? participants : participants + [local]
  }

  func makeConversation(
    _ id: ConversationID?, _ kind: ConversationKind, _ participants: [MemberID]
  ) throws(StoreError) -> OpenConversation {
    let id = id ?? ConversationID(MessageID.random().string)
    let conversation = try transaction.conversation(id) { ConversationDetails(id: id) }
    let numbers = try transaction.memberNumbers(of: participants)
    _ = try transaction.conversations.update(conversation) { (new) throws(StoreError) in
      new.details.kind = kind
      new.details.createdAt = transaction.recordedTime()
      new.details.createdBy = localMember
      try transaction.conversations.join(numbers, isLater: false, after: nil, &new)
    }
    try transaction.outboxEntering.enter(.createConversation, of: conversation.number)
    return conversation
  }

  func stored(_ conversation: OpenConversation) throws(StoreError) -> Conversation {
    try transaction.summaries.flush()
    var cursor = Cursor(view.source, Schema.conversations)
    let view = try transaction.shown()
    var profiles = ListedProfiles(view)
    return try view.list.conversation(conversation.number, &cursor, &profiles)
  }

  /// Returns the oldest conversation with exactly these participants, of this kind or of unknown
  /// kind.
  func existingConversation(
    _ kind: ConversationKind, with members: [UInt32]
  ) throws(StoreError) -> OpenConversation? {
    let wanted = members.sorted()
    var candidates: [UInt32] = []
    // Members in one value have one digest, members with cells another.
    for digest in [ConversationMembers.digest(members), Roster.digest(members)] {
      let prefix = ParticipantsKey.prefix(digest)
      try view.forEachCell(with: prefix, in: Schema.names) { (key, _) throws(StoreError) in
        guard let found = ParticipantsKey.parts(key) else {
          throw view.corrupt(Schema.names, "participants: malformed key (\(key.count) bytes)")
        }
        candidates.append(found.conversation)
        return true
      }
    }
    var oldest: OpenConversation?
    for number in candidates {
      let details = try view.conversations.details(number)
      guard details.kind == kind || details.kind == .unknown,
        details.participantCount == wanted.count,
        try view.conversations.members(number).active == wanted
      else { continue }
      let found = try transaction.conversation(number)
      if let oldest, oldest.summary.created <= found.summary.created { continue }
      oldest = found
    }
    return oldest
  }
}
