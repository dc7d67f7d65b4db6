import PageFile

/// Looks up conversations and members, and gives new ones a number.
extension Transaction {
  /// Returns the conversation of this name, or nil if there is no such conversation.
  package func existingConversation(_ id: ConversationID) throws(StoreError) -> OpenConversation? {
    if let conversation = memory.conversation(id) { return conversation }
    var number = memory.numbers.conversations[id]
    if number == nil {
      number = try view.number(of: id)
      if let number { memory.numbers.insert(id, number) }
    }
    guard let number else { return nil }
    let conversation = try conversation(number)
    memory.insert(conversation, named: id)
    return conversation
  }

  /// Returns the conversation of this number.
  @inline(never)
  func conversation(_ number: UInt32) throws(StoreError) -> OpenConversation {
    if let conversation = memory.conversation(number) { return conversation }
    var cursor = Cursor(view.source, Schema.conversations)
    let summary = try view.conversations.summary(number, &cursor)
    let conversation = OpenConversation(
      number, summary, isStored: true, byteCount: cursor.valueByteCount)
    memory.insert(conversation)
    return conversation
  }

  /// Returns the summary, as it will be written, of a conversation that this transaction has
  /// touched.
  func openSummary(_ number: UInt32) -> ConversationSummary? {
    memory.conversations[number]?.summary
  }

  /// Returns the conversation of this name, creating it with these details if necessary.
  package func conversation(
    _ id: ConversationID, orNew details: () -> ConversationDetails
  ) throws(StoreError) -> OpenConversation {
    if let conversation = try existingConversation(id) { return conversation }
    hasAdded = true
    let number = try newNumber(.nextConversation, "conversation")
    try writeName(ConversationName(number: number, isFormer: false), of: id)
    try writeDetails(details(), of: number)
    let summary = ConversationSummary(created: recordedTime())
    let conversation = OpenConversation(number, summary, isStored: false)
    conversation.id = id
    memory.insert(conversation)
    memory.numbers.insert(id, number)
    memory.insert(conversation, named: id)
    return conversation
  }

  /// Returns the number of a member, assigning one if necessary.
  package func memberNumber(of id: MemberID) throws(StoreError) -> UInt32 {
    if let number = memory.numbers[id] { return number }
    if let number = try view.number(of: id) {
      memory.numbers.insert(id, number)
      return number
    }
    let number = try newNumber(.nextMember, "member")
    let name = KeyEncoding.key(id.string)
    var value = ByteBuffer()
    value.append(littleEndian: number)
    let entry = NameKey.member(id.string)
    let back = MemberKey.key(number)
    try insert(entry.bytes, value.bytes, in: Schema.names)
    try insert(back.bytes, name.bytes, in: Schema.index)
    memory.numbers.insert(id, number)
    return number
  }

  /// Returns true if there is a conversation of this number.
  @inline(never)
  func isStored(_ number: UInt32) throws(StoreError) -> Bool {
    if memory.conversations[number] != nil { return true }
    return try view.contains(KeyEncoding.key(number), in: Schema.conversations)
  }

  /// Adds a conversation under a new number.
  func add(
    _ number: UInt32, _ summary: ConversationSummary
  ) throws(StoreError) -> OpenConversation {
    let conversation = OpenConversation(number, summary, isStored: false)
    memory.insert(conversation)
    return conversation
  }

  @inline(never)
  func writeName(_ name: ConversationName, of id: ConversationID) throws(StoreError) {
    let key = NameKey.conversation(id.string)
    var value = ByteBuffer()
    name.append(to: &value)
    try insert(key.bytes, value.bytes, in: Schema.names)
  }

  func newNumber(_ word: StoreWord, _ what: String) throws(StoreError) -> UInt32 {
    let next = max(1, view.source[word])
    guard next < UInt64(UInt32.max) else { throw .numbersExhausted(what: what) }
    view.source[word] = next + 1
    return UInt32(next)
  }
}

/// The details of conversations, and the parts of them that the writer remembers.
extension Transaction {
  /// Returns the name of a conversation.
  func name(of number: UInt32) throws(StoreError) -> ConversationID {
    if let known = memory.conversations[number]?.id { return known }
    return try lookUpDetails(of: number).id
  }

  /// Returns true if the local member has left a conversation.
  func hasLeft(_ conversation: OpenConversation) throws(StoreError) -> Bool {
    if let known = conversation.hasLeft { return known }
    return try lookUpDetails(of: conversation.number).hasLeft
  }

  /// Returns the details of a conversation; the writer remembers those of them that it asks for.
  private func lookUpDetails(of number: UInt32) throws(StoreError) -> ConversationDetails {
    let details = try view.conversations.details(number)
    if let open = memory.conversations[number] { remember(details, of: open) }
    return details
  }

  private func remember(_ details: ConversationDetails, of conversation: OpenConversation) {
    conversation.hasLeft = details.hasLeft
    conversation.id = details.id
  }

  /// Writes the details of a conversation.
  func writeDetails(_ details: ConversationDetails, of number: UInt32) throws(StoreError) {
    if let open = memory.conversations[number] { remember(details, of: open) }
    try put(details, at: ConversationDetails.key(number))
  }
}
