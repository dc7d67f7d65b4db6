import PageFile

/// Writes the members of conversations, and what the details and the names tree say of them.
///
/// See docs/message-format.md, C-10 … C-13 and C-22.
struct Memberships: TransactionPart {
  let transaction: Transaction

  /// Writes a change of members.
  func writeMembers(
    _ change: inout MembershipChange, _ details: inout ConversationDetails,
    of conversation: OpenConversation
  ) throws(StoreError) {
    transaction.hasAdded = true
    let before = details.rosterDigest
    if details.roster == nil {
      try writeWhole(&change, &details, of: conversation.number)
    } else {
      try writeCells(&change, &details, of: conversation.number)
    }
    if let localMember { details.hasLeft = try change.hasLeft(localMember) }
    guard details.roster != nil else { return }
    try replace(before, by: details.rosterDigest, of: conversation.number)
  }

  /// Updates what depends on the members, once the details are written.
  func changed(
    _ change: MembershipChange, from old: ConversationDetails, to new: ConversationDetails,
    in conversation: OpenConversation
  ) throws(StoreError) {
    guard old.roster != nil else {
      return try transaction.receipts.membershipChanged(conversation)
    }
    try transaction.receipts.membersChanged(change.pairs, from: old, to: new, in: conversation)
  }

  // MARK: Members in one value

  private func writeWhole(
    _ change: inout MembershipChange, _ details: inout ConversationDetails, of number: UInt32
  ) throws(StoreError) {
    let (old, new) = (try change.old(), try change.members())
    let (oldActive, active) = (old.active, new.active)
    let splits = new.members.count > rules.maximumInlineMemberCount
    details.participantCount =
      StoreDefect.leftOnesCounted.isPlanted ? new.members.count : active.count
    if splits || active != oldActive {
      try replace(
        oldActive.isEmpty ? nil : ConversationMembers.digest(oldActive),
        by: active.isEmpty || splits ? nil : ConversationMembers.digest(active), of: number)
    }
    guard splits else {
      details.firstParticipants = try view.conversations.ordered(
        new.members.filter(\.isActive)
      )
      .prefix(ConversationDetails.maximumFirstParticipantCount).map(\.number)
      return try transaction.put(new, at: ConversationMembers.key(number))
    }
    if !old.isEmpty {
      try transaction.remove(ConversationMembers.key(number), in: Schema.conversations)
    }
    for member in new.members { try put(member, of: number) }
    details.roster = Roster(new)
    details.firstParticipants = try view.conversations.firstParticipants(number)
  }

  // MARK: Members with cells

  private func put(
    _ member: ConversationMembers.Member, of number: UInt32
  ) throws(StoreError) {
    try transaction.put(
      MembershipRecord(member), at: MembershipRecord.key(number, member.number))
  }

  private func writeCells(
    _ change: inout MembershipChange, _ details: inout ConversationDetails, of number: UInt32
  ) throws(StoreError) {
    let pairs = change.pairs
    let oldCount = details.participantCount
    for (old, new) in pairs {
      try put(new, of: number)
      switch (old?.isActive ?? false, new.isActive) {
      case (false, true):
        details.roster?.digest &+= Roster.mix(new.number)
        details.participantCount += 1
      case (true, false):
        if StoreDefect.leftOnesCounted.isPlanted { continue }
        details.roster?.digest &-= Roster.mix(new.number)
        details.participantCount -= 1
      default: break
      }
    }
    details.roster?.newestTime = try change.lastTime() ?? 0
    details.roster?.completeAt = try change.completeAt()
    try updateFirst(pairs, &change, &details, was: oldCount)
    let missing = ConversationDetails.maximumFirstParticipantCount - details.firstParticipants.count
    if missing > 0, details.firstParticipants.count < details.participantCount,
      !StoreDefect.firstOnesMissing.isPlanted
    {
      details.firstParticipants = try view.conversations.firstParticipants(number)
    }
  }

  /// Updates the first participants without reading others than these and those that have changed.
  ///
  /// The kept ones are the first of all participants that did not change. So a changed one belongs
  /// to them if it stands before the last of them, or if there is nobody behind that.
  private func updateFirst(
    _ pairs: [MembershipChange.Pair], _ change: inout MembershipChange,
    _ details: inout ConversationDetails, was oldCount: Int
  ) throws(StoreError) {
    var first = details.firstParticipants
    let places = pairs.filter { old, new in
      (old?.isActive ?? false) != new.isActive || old?.joinedAt != new.joinedAt
        || old?.time != new.time
    }
    let moved = Set(places.lazy.filter { $0.old?.isActive ?? false }.map(\.new.number))
    let isWhole = first.count == oldCount
    if !moved.isEmpty { first.removeAll(where: moved.contains) }
    for (_, member) in places where member.isActive {
      var low = first.count
      if let last = first.last {
        if try precedes(member, last, &change) {
          low = try index(of: member, in: first, &change)
        } else if !isWhole {
          continue
        }
      } else if !isWhole {
        continue
      }
      first.insert(member.number, at: low)
    }
    details.firstParticipants = Array(first.prefix(ConversationDetails.maximumRosterFirstCount))
  }

  private func precedes(
    _ member: ConversationMembers.Member, _ other: UInt32, _ change: inout MembershipChange
  ) throws(StoreError) -> Bool {
    guard let other = try change.member(other) else {
      throw view.corrupt(Schema.conversations, "member \(other): listed, but not there")
    }
    return try view.conversations.precedes(member, other)
  }

  private func index(
    of member: ConversationMembers.Member, in first: [UInt32], _ change: inout MembershipChange
  ) throws(StoreError) -> Int {
    var (low, high) = (0, first.count)
    while low < high {
      let middle = (low + high) / 2
      if try precedes(member, first[middle], &change) { high = middle } else { low = middle + 1 }
    }
    return low
  }

  // MARK: Finding a conversation by its participants

  private func replace(
    _ old: UInt64?, by new: UInt64?, of number: UInt32
  ) throws(StoreError) {
    guard new != old else { return }
    let isKept = StoreDefect.participantsKept.isPlanted
    try transaction.update(
      ParticipantsKey.self, from: isKept ? nil : old.map { ($0, number) },
      to: new.map { ($0, number) })
  }

  /// Returns the digest under which a conversation is found by its participants; nil without
  /// any.
  private func digest(
    _ number: UInt32, _ details: ConversationDetails
  ) throws(StoreError) -> UInt64? {
    guard details.participantCount > 0 else { return nil }
    if let roster = details.roster { return roster.digest }
    return ConversationMembers.digest(try view.conversations.members(number).active)
  }

  // MARK: Moving

  /// Removes the members of a conversation that goes, before its details do.
  func remove(_ number: UInt32, _ details: ConversationDetails) throws(StoreError) {
    if let digest = try digest(number, details) {
      try transaction.update(ParticipantsKey.self, from: (digest, number), to: nil)
    }
    guard details.roster != nil else { return }
    for (member, _) in try cells(of: number) {
      try transaction.remove(MembershipRecord.key(number, member), in: Schema.conversations)
    }
  }

  /// Moves the members of a conversation to a new number, before its details move.
  func move(
    _ number: UInt32, to other: UInt32, _ details: ConversationDetails
  ) throws(StoreError) {
    if let digest = try digest(number, details) {
      try transaction.update(
        ParticipantsKey.self, from: (digest, number), to: (digest, other))
    }
    guard details.roster != nil else { return }
    for (member, value) in try cells(of: number) {
      try transaction.remove(MembershipRecord.key(number, member), in: Schema.conversations)
      let key = MembershipRecord.key(other, member)
      try Bytes.with(value) { (value) throws(StoreError) in
        try transaction.insert(stored: key.bytes, value, in: Schema.conversations)
      }
    }
  }

  private func cells(of number: UInt32) throws(StoreError) -> [(member: UInt32, value: [UInt8])] {
    var cells: [(member: UInt32, value: [UInt8])] = []
    let prefix = MembershipRecord.prefix(number)
    try view.forEachCell(
      with: prefix, in: Schema.conversations
    ) { (key, value) throws(StoreError) in
      guard let (_, member) = MembershipRecord.parts(key) else {
        throw view.corrupt(
          Schema.conversations, "membership: malformed key (\(key.count) bytes)")
      }
      cells.append((member, value.array()))
      return true
    }
    return cells
  }
}

extension ConversationDetails {
  /// The digest under which the conversation is found by its participants; nil if it has none, or
  /// if its members are in one value.
  fileprivate var rosterDigest: UInt64? { participantCount > 0 ? roster?.digest : nil }
}

extension Transaction {
  var memberships: Memberships { Memberships(transaction: self) }
}
