import PageFile

/// A reader of single messages, and of their rare fields for a slice.
struct ThreadReader {
  let view: StoreView

  /// Fills in the contents of a message's traits and the facts to which they refer.
  func fill(
    _ fields: inout RareFields, _ traits: MessageTraits, at position: MessagePosition,
    in conversation: UInt32
  ) throws(StoreError) {
    let id = traits.names.first ?? position.id
    if let own = traits.names.first {
      fields.ownID = own
      fields.keyName = position.id
    }
    fields.takeCommon(traits)
    fields.retryCount = Int(clamping: traits.sending.retryCount)
    fields.retryAt = traits.sending.retryAt.map(Timestamp.init(microseconds:))
    fields.failure = traits.sending.failure
    fields.isRetracted = traits.isRetracted
    fields.retractedAt = traits.retractedAt.map(Timestamp.init(microseconds:))
    fields.isAwaitingServer = traits.marks.contains(.hidden) || !traits.pendingEdits.isEmpty
    if traits.isRetracted { return }
    for number in traits.mentions { fields.mentions.append(try view.member(number)) }
    // Member numbers differ between stores; names do not.
    fields.mentions.sort()
    if traits.marks.contains(.reactions) {
      var known = traits.reactionCounts
      if known == nil {
        var all = try view.facts.reactionCounts(of: id, in: conversation)
        _ = all.keepMostUsed()
        known = all
      }
      let counts = known ?? ReactionCounts()
      let isListed = counts.total <= Message.maximumListedReactionCount
      fields.countedReactions = CountedReactions(counts.all, isListed: isListed)
      if isListed, counts.total > 0 {
        fields.reactions = try view.facts.reactions(of: id, in: conversation)
      }
    }
    if traits.marks.contains(.tagged) { fields.tags = try view.tags.settable(traits.tags) }
    if traits.marks.contains(.attachments) {
      fields.attachments = try view.facts.attachments(of: id, in: conversation)
    }
  }
}

extension RareFields {
  /// Takes the fields that need nothing but the traits.
  mutating func takeCommon(_ traits: MessageTraits) {
    deliveredAt = traits.deliveredAt.map(Timestamp.init(microseconds:))
    readAt = traits.readAt.map(Timestamp.init(microseconds:))
    expiresAt = traits.expiryTime.map(Timestamp.init(microseconds:))
    if traits.isRetracted { return }
    editedAt = traits.editTime.map(Timestamp.init(microseconds:))
    editName = traits.editName
    hasHistory = traits.marks.contains(.versions)
    ownFields = traits.ownFields
  }
}

extension ThreadReader {
  /// Returns all versions of a message's text except the one shown, oldest first.
  func history(
    of id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> [MessageVersion] {
    guard let number = try view.number(of: conversation),
      let position = try view.ids.position(of: id, in: number)
    else { return [] }
    let message = try view.messages.message(at: position, in: number)
    guard !message.traits.isRetracted else { return [] }
    var versions = try view.facts.versions(of: message.id(at: position), in: number)
    versions.sort { $0.precedes($1) }
    return versions.map {
      MessageVersion(
        text: $0.text, time: $0.editTime.map(Timestamp.init(microseconds:)),
        serverName: $0.serverName)
    }
  }
}

extension ThreadReader {
  /// Returns all reactions to a message, by member and emoji.
  func reactions(
    to id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> [Reaction] {
    guard let number = try view.number(of: conversation),
      let position = try view.ids.position(of: id, in: number)
    else { return [] }
    let message = try view.messages.message(at: position, in: number)
    guard !message.traits.isRetracted, message.traits.marks.contains(.reactions) else { return [] }
    return try view.facts.reactions(of: message.id(at: position), in: number)
  }
}

extension StoreView {
  var threads: ThreadReader { ThreadReader(view: self) }
}

extension ThreadReader {
  func thread(_ id: ConversationID) throws(StoreError) -> MessageThread {
    let found = try view.find(id)
    return MessageThread(view, found?.id ?? id, found?.number)
  }

  func message(
    _ id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Message? {
    guard let (number, conversation) = try view.find(conversation),
      let position = try view.ids.position(of: id, in: number)
    else { return nil }
    guard let message = try message(at: position, in: number, named: conversation) else {
      throw view.corrupt(Schema.ids, "message \"\(id)\" is not at its place")
    }
    return message
  }

  /// Returns the message at a position of a conversation; nil if none is there.
  func message(
    at position: MessagePosition, in number: UInt32, named conversation: ConversationID
  ) throws(StoreError) -> Message? {
    var builder = SliceBuilder(view, conversation, number, count: 1)
    guard try builder.append(at: position) else { return nil }
    return builder.finishOne()
  }
}
