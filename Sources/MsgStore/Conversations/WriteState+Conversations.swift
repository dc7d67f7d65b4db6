import PageFile

/// Making conversations, changing their details, and finding one by who takes part.
extension WriteState {
  func putConversation(
    _ id: ConversationID, participants: [MemberID], title: String?
  ) throws(StoreError) {
    try id.validate()
    try Self.validate(participants)
    if let title, title.utf8.count > ConversationDetails.titleByteCountMax {
      throw .titleTooLong(
        byteCount: title.utf8.count, limit: ConversationDetails.titleByteCountMax)
    }
    try change { () throws(StoreError) in
      hasAdded = true
      let details = ConversationDetails(
        id: id, title: title, participants: try memberNumbers(of: participants))
      guard let conversation = try existingConversation(id) else {
        _ = try conversation(id) { details }
        return
      }
      let stored = try reader.details(conversation.number)
      if stored.participants.sorted() != details.participants.sorted() {
        try removeParticipants(stored, of: conversation.number)
      }
      try write(details, of: conversation.number)
      if stored.participants != details.participants { try membershipChanged(conversation) }
    }
  }

  func conversation(with participants: [MemberID]) throws(StoreError) -> Conversation {
    var participants = participants
    if let localMember {
      let local = try reader.within { () throws(StoreError) in try reader.member(localMember) }
      if !participants.contains(local) { participants.append(local) }
    }
    guard !participants.isEmpty else { throw .noParticipants }
    try Self.validate(participants)
    return try change { () throws(StoreError) in
      let members = try memberNumbers(of: participants)
      let number: UInt32
      if let found = try existingConversation(with: members) {
        number = found
      } else {
        let id = ConversationID(MessageID.random().string)
        number = try conversation(id) { ConversationDetails(id: id, participants: members) }.number
      }
      try flush()
      var cursor = Cursor(reader.source, Schema.conversations)
      return try reader.conversation(number, &cursor)
    }
  }

  /// The oldest conversation with exactly these participants.
  private func existingConversation(with members: [UInt32]) throws(StoreError) -> UInt32? {
    let wanted = members.sorted()
    let first = KeyEncoding.key(ConversationDetails.digest(members), 0)
    let digest = first.bytes.slice(0, 8)
    var cursor = Cursor(reader.source, Schema.participants)
    try storage { () throws(PageFileError) in _ = try cursor.seek(first.bytes) }
    while cursor.isAtCell, cursor.keyHasPrefix(digest) {
      var key = ByteBuffer()
      cursor.appendKey(to: &key)
      guard let number = key.bytes.bigEndianNumber(at: digest.count) else {
        throw reader.corrupt(Schema.participants, "a key has \(key.count) bytes, not 12")
      }
      if try reader.details(number).participants.sorted() == wanted { return number }
      try storage { () throws(PageFileError) in _ = try cursor.next() }
    }
    return nil
  }

  /// Writes the details of a conversation and their entry in the participants tree.
  func write(_ details: ConversationDetails, of number: UInt32) throws(StoreError) {
    let key = ConversationDetails.key(number)
    var value = ByteBuffer(capacity: 256)
    details.append(to: &value)
    try insert(key.bytes, value.bytes, in: Schema.conversations)
    guard !details.participants.isEmpty else { return }
    let entry = KeyEncoding.key(ConversationDetails.digest(details.participants), number)
    try insert(entry.bytes, .empty, in: Schema.participants)
  }

  private func removeParticipants(
    _ details: ConversationDetails, of number: UInt32
  ) throws(StoreError) {
    guard !details.participants.isEmpty else { return }
    let entry = KeyEncoding.key(ConversationDetails.digest(details.participants), number)
    try remove(entry.bytes, in: Schema.participants)
  }

  private static func validate(_ participants: [MemberID]) throws(StoreError) {
    guard participants.count <= ConversationDetails.participantCountMax else {
      throw .tooManyParticipants(
        count: participants.count, limit: ConversationDetails.participantCountMax)
    }
    for participant in participants { try participant.validate() }
  }

  /// The members' numbers in the order given, each once.
  func memberNumbers(of members: [MemberID]) throws(StoreError) -> [UInt32] {
    var seen: Set<UInt32> = []
    var numbers: [UInt32] = []
    for member in members {
      let number = try memberNumber(of: member)
      if seen.insert(number).inserted { numbers.append(number) }
    }
    return numbers
  }
}
