import PageFile

/// Sets the client's own fields for the local member.
///
/// Each value gets a provisional time, later than the one of the replaced value. Of a field that is
/// not local the server is told, unless it goes with a message that cannot have left.
struct OwnFieldActs: TransactionPart {
  let transaction: Transaction

  /// Sets a field or the kind, or removes it; returns true if that changes anything.
  func set(_ field: OwnField, of owner: FieldOwner) throws(StoreError) -> Bool {
    try OwnField.validate(CollectionOfOne(field))
    if !field.isLocal { _ = try transaction.localMemberID() }
    return switch owner {
    case .message(let id, let conversation): try set(field.register, of: id, in: conversation)
    case .conversation(let id): try set(field.register, of: id)
    case .member(let id): try set(field.register, of: id)
    }
  }

  /// Erases the profile and the own fields of a member, and tells nothing more of these.
  func forgetMember(_ id: MemberID) throws(StoreError) -> Bool {
    let hadProfile = try transaction.profiles.forget(id)
    guard let number = try view.number(of: id) else {
      return hadProfile
    }
    let hadFields = try transaction.profiles.forget(id, number)
    if hadFields { try transaction.outboxEntering.withdrawAll(of: number) }
    return hadProfile || hadFields
  }

  private func set(
    _ given: OwnRegister, of id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    let target = try transaction.composing.ownTarget(
      id, in: conversation, checksMembership: !given.isLocal)
    let (old, number) = (target.message, target.conversation.number)
    let fields = old.traits.ownFields
    let known = fields[given.name]
    guard try isChange(given, of: fields, packed: true) else { return false }
    var register = given
    // A message that nobody has yet is sent with its fields, which need no time.
    let mayHaveLeft = try transaction.outboxEntering.mayHaveLeft(target.id, in: number)
    let goesAlong = mayHaveLeft == false && !given.isLocal && known?.time == nil
    if !goesAlong {
      register.time = Conversations.provisionalTime(
        after: known?.time, try transaction.conversations.newestServerTime(in: target.conversation))
    }
    var new = old
    try transaction.messageFacts.setOwnField(
      register, in: &new.traits.ownFields, of: target.id, in: number)
    try transaction.messages.replace(
      old, at: target.position, with: new, at: target.position, in: target.conversation)
    if goesAlong {
      try transaction.outboxEntering.sendsOtherContent(target.id, in: number)
    } else {
      try tell(
        .setMessageField(target.id, at: register.time ?? 0, name: register.name),
        isLocal: given.isLocal, of: number)
    }
    return true
  }

  private func set(_ given: OwnRegister, of id: ConversationID) throws(StoreError) -> Bool {
    let conversation =
      given.isLocal
      ? try transaction.conversations.knownConversation(id)
      : try transaction.conversationActs.memberConversation(id)
    let number = conversation.number
    let old = try view.conversations.ownFields(number)
    guard try isChange(given, of: old, packed: false) else { return false }
    var register = given
    register.time = Conversations.provisionalTime(
      after: old[given.name]?.time,
      try transaction.conversations.newestServerTime(in: conversation),
      try view.conversations.details(number).newestTime)
    var new = old
    new.put(register)
    try transaction.conversations.writeFields(new, replacing: old, of: number)
    try tell(
      .setConversationField(at: register.time ?? 0, name: register.name),
      isLocal: given.isLocal, of: number)
    return true
  }

  private func set(_ given: OwnRegister, of id: MemberID) throws(StoreError) -> Bool {
    try id.validate()
    let known = try view.number(of: id)
    let old =
      try known.map { (number) throws(StoreError) in
        try view.directory.ownFields(number)
      } ?? OwnFields()
    guard try isChange(given, of: old, packed: false) else { return false }
    let number = try transaction.memberNumber(of: id)
    var register = given
    // A member has no thread that would tell the server's time: the newest known fact has to do.
    register.time = Conversations.provisionalTime(
      after: old.all.compactMap(\.time).max(), try view.directory.record(number)?.fetchedAt)
    var new = old
    new.put(register)
    try transaction.profiles.writeFields(new, replacing: old, of: id, number)
    try tell(
      .setMemberField(number, at: register.time ?? 0, name: register.name),
      isLocal: given.isLocal, of: 0)
    return true
  }

  private func tell(
    _ subject: OutboxSubject, isLocal: Bool, of conversation: UInt32
  ) throws(StoreError) {
    if isLocal {
      try transaction.outboxEntering.withdraw(subject, of: conversation)
    } else {
      try transaction.outboxEntering.enterField(subject, of: conversation)
    }
  }

  /// Returns true if a value differs from the known one; throws if there is no room for it.
  private func isChange(
    _ given: OwnRegister, of fields: OwnFields, packed: Bool
  ) throws(StoreError) -> Bool {
    let content = packed ? given.packed.content : given.content
    let known = fields[given.name]
    guard let known else {
      if given.isRemoved { return false }
      try validate(given, in: fields)
      return true
    }
    if known.content == content, known.isLocal == given.isLocal { return false }
    try validate(given, in: fields)
    return true
  }

  private func validate(_ given: OwnRegister, in fields: OwnFields) throws(StoreError) {
    var fields = fields
    fields.put(given)
    try OwnField.validate(
      count: fields.namedCount, byteCount: given.isRemoved ? 0 : fields.byteCount)
  }
}

extension Transaction {
  var ownFieldActs: OwnFieldActs { OwnFieldActs(transaction: self) }
}
