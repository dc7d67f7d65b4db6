import PageFile

/// Merges messages that the server knows by names of its own.
///
/// A message keeps the name it was written under. The server's name is another one that leads to
/// it, and decides its place among messages of the same time, so that all stores agree. When
/// messages came under both names, they become one. See docs/message-format.md, N-5 and G-7.
struct Identities: TransactionPart {
  let transaction: Transaction

  /// Acknowledges a message under the server's name for it.
  ///
  /// Returns false if neither name belongs to a message that is here.
  func acknowledge(
    _ own: MessageID, as serverName: MessageID, _ given: PlaceFacts?,
    in conversation: OpenConversation
  ) throws(StoreError) -> Bool {
    let number = conversation.number
    let (mine, theirs) = (
      try view.ids.entry(of: own, in: number),
      try view.ids.entry(of: serverName, in: number)
    )
    switch (mine, theirs) {
    case (.deleted?, .deleted?):
      return false
    case (.deleted?, _), (_, .deleted?):
      try deleteUnder([own, serverName], in: conversation)
      return false
    case (.here(let a)?, .here(let b)?) where a == b:
      if given != nil {
        try transaction.receivedMessages.acknowledge(at: a, given, in: conversation)
      }
    case (.here(let a)?, .here(let b)?):
      guard
        try nameCount(a, in: number) + nameCount(b, in: number) <= MessageTraits.maximumNameCount
      else { return false }
      try unite(a, with: b, in: conversation)
      guard let position = try view.ids.position(of: own, in: number) else { return false }
      if given != nil {
        try transaction.receivedMessages.acknowledge(at: position, given, in: conversation)
      }
    case (.here(let position)?, _):
      try attach([serverName], toMessageAt: position, given, in: conversation) {
        $0.add(serverName, isOwn: false)
      }
    case (_, .here(let position)?):
      try attach([own], toMessageAt: position, given, in: conversation) {
        $0.add(own, isOwn: true)
      }
    default:
      try wait(own, as: serverName, given, in: number)
      return false
    }
    return true
  }

  private func nameCount(_ position: MessagePosition, in conversation: UInt32) throws(StoreError)
    -> Int
  {
    try flushed().messages.message(at: position, in: conversation).traits.names.count + 1
  }

  /// Gives a message more names, and merges the facts that waited under them.
  ///
  /// - Parameter join: Adds the names to those that the message has.
  private func attach(
    _ added: [MessageID], toMessageAt position: MessagePosition, _ given: PlaceFacts?,
    in conversation: OpenConversation, _ join: (inout Names) -> Void
  ) throws(StoreError) {
    let owners = try waitingNames(for: added, in: conversation.number)
    try attach(owners, besides: added, toMessageAt: position, given, in: conversation, join)
  }

  /// Returns the names under which facts may wait that belong to a message of these names.
  func waitingNames(
    for names: [MessageID], in conversation: UInt32
  ) throws(StoreError) -> [MessageID] {
    var owners: [MessageID] = []
    for name in names {
      owners.append(name)
      if case .alias(let own)? = try view.ids.entry(of: name, in: conversation) {
        owners.append(own)
      }
    }
    return owners
  }

  /// Merges the facts that wait under some names into a message that is here.
  ///
  /// - Parameters:
  ///   - owners: The names under which facts may wait; they become names of the message.
  ///   - added: Those of them that `join` adds, or that the message has already.
  func attach(
    _ owners: [MessageID], besides added: [MessageID], toMessageAt position: MessagePosition,
    _ given: PlaceFacts?, in conversation: OpenConversation, _ join: (inout Names) -> Void
  ) throws(StoreError) {
    let old = try flushed().messages.message(at: position, in: conversation.number)
    var new = old
    var facts = PlaceFacts(of: old, at: position.place)
    facts.merge(given)
    if given != nil { new.raise(.sent) }
    let id = old.id(at: position)
    var names = Names(of: old, at: position)
    join(&names)
    for other in owners {
      if !added.contains(other) { names.add(other, isOwn: true) }
      if let waiting = try transaction.waitingMessages.takeWaiting(other, in: conversation.number) {
        if !waiting.traits.names.isEmpty { transaction.noteLookupChange(in: conversation.number) }
        if let key = waiting.traits.names.first { names.add(key, isOwn: false) }
        for name in waiting.traits.names { names.add(name) }
        try moveFacts(of: other, to: id, in: conversation.number)
        try transaction.receivedMessages.absorb(
          waiting, named: id, into: &new, in: conversation.number)
        facts.merge(waiting.place)
      }
    }
    try rename(old, at: position, new, names, facts, in: conversation)
  }

  /// Stores a changed message under changed names.
  @inline(never)
  private func rename(
    _ old: StoredMessage, at position: MessagePosition, _ changed: StoredMessage, _ names: Names,
    _ facts: PlaceFacts, in conversation: OpenConversation
  ) throws(StoreError) {
    var new = changed
    let (oldID, id) = (old.id(at: position), names.own)
    let place = facts.place(of: new, from: position.place)
    if try transaction.receivedMessages.isGone(at: position, to: place, from: conversation) {
      return try transaction.messageNames.forget(names.all.sorted(), in: conversation.number)
    }
    if id != oldID { try moveFacts(of: oldID, to: id, in: conversation.number) }
    new.traits.names = names.besidesKey
    facts.keep(in: &new)
    let target = MessagePosition(place, names.key)
    // Also an unchanged record: attachments that lie beside it may have changed.
    try transaction.messages.replace(old, at: position, with: new, at: target, in: conversation)
    try transaction.messageNames.forget(names.refused, in: conversation.number)
    guard !place.isPending else { return }
    try transaction.receipts.moveMarks(from: position, to: target, in: conversation)
    // Marks may have waited under another of its names.
    try transaction.receipts.applyWaitingMarks(of: id, at: target, in: conversation)
    try transaction.receipts.applySequenceMarks(at: target, in: conversation)
  }

  /// Merges two messages into one.
  private func unite(
    _ a: MessagePosition, with b: MessagePosition, in conversation: OpenConversation
  ) throws(StoreError) {
    let second = try flushed().messages.message(at: b, in: conversation.number)
    try transaction.messages.remove(second, at: b, in: conversation)
    try fold(second, at: b, of: conversation.number, into: a, in: conversation)
  }

  /// Merges all messages that have any of these names into one, with the facts that wait under the
  /// others.
  ///
  /// Returns the position of the message; nil if there is no such message, or none is left.
  func gather(
    _ names: Names, in conversation: OpenConversation
  ) throws(StoreError) -> MessagePosition? {
    let number = conversation.number
    var gathered: MessageID?
    for name in names.inOrder {
      guard let position = try view.ids.position(of: name, in: number) else { continue }
      guard let gathered else {
        gathered = name
        continue
      }
      if let first = try view.ids.position(of: gathered, in: number), first != position {
        try unite(first, with: position, in: conversation)
      }
    }
    guard let gathered, let position = try view.ids.position(of: gathered, in: number) else {
      return nil
    }
    for name in names.all {
      if case .here? = try view.ids.entry(of: name, in: number) { continue }
      try attach(names.inOrder, toMessageAt: position, nil, in: conversation) { $0.add(names) }
      break
    }
    return try view.ids.position(of: gathered, in: number)
  }

  /// Merges a message that has lost its place, in this or another conversation, into another
  /// message, with all its facts and the marks that went up to it.
  ///
  /// If only one of the two was composed here, the server's statements are merged into that one.
  func fold(
    _ second: StoredMessage, at b: MessagePosition, of number: UInt32, into a: MessagePosition,
    in conversation: OpenConversation
  ) throws(StoreError) {
    let first = try flushed().messages.message(at: a, in: conversation.number)
    let (id, otherID) = (first.id(at: a), second.id(at: b))
    var (new, other) = (first, second)
    var versions = try view.facts.versions(of: otherID, in: number)
    if second.flags.contains(.composed) && !first.flags.contains(.composed) {
      (new, other) = (second, first)
      new.markOrdinal = first.markOrdinal
      versions = try view.facts.versions(of: id, in: conversation.number)
    }
    try moveFacts(of: otherID, in: number, to: id, in: conversation.number)
    let isErased = !first.traits.marks.union(second.traits.marks).isDisjoint(with: .retracted)
    for version in versions where !isErased {
      _ = try transaction.messageFacts.mergeReceivedVersion(
        version, isComposed: other.flags.contains(.composed), into: &new, named: id,
        in: conversation.number)
    }
    try transaction.receivedMessages.mergeOriginal(
      other, into: &new, named: id, in: conversation.number)
    new.raise(other)
    try transaction.receivedMessages.absorbOwnFields(
      of: other.traits, named: id, into: &new, in: conversation.number)
    if !other.flags.contains(.history) { new.flags.remove(.history) }
    if other.traits.marks.contains(.seen) { new.traits.marks.insert(.seen) }
    if isErased { try transaction.messageFacts.erase(&new, named: id, in: conversation.number) }
    try transaction.messageFacts.noteFacts(of: id, in: conversation.number, &new)
    var facts = PlaceFacts(of: first, at: a.place)
    facts.merge(PlaceFacts(of: second, at: b.place))
    var names = Names(of: first, at: a)
    names.add(Names(of: second, at: b))
    try rename(first, at: a, new, names, facts, in: conversation)
    if let position = try view.ids.position(of: names.key, in: conversation.number) {
      try transaction.receipts.moveMarks(from: b, to: position, in: conversation)
    }
  }

  /// Keeps that two names belong to one message until it comes.
  private func wait(
    _ own: MessageID, as serverName: MessageID, _ given: PlaceFacts?, in conversation: UInt32
  ) throws(StoreError) {
    func named(_ name: MessageID) throws(StoreError) -> MessageID {
      guard case .alias(let other)? = try view.ids.entry(of: name, in: conversation) else {
        return name
      }
      return other
    }
    let mine = try named(own)
    let theirs = try named(serverName)
    if mine == theirs {
      try transaction.waitingMessages.noteWaiting(mine, in: conversation) { $0.merge(given) }
      return
    }
    // If both have own names already, the lesser becomes the own name of both.
    let target = theirs == serverName ? mine : min(mine, theirs)
    var names: Set<MessageID> = [own, serverName, mine, theirs]
    var key = serverName
    var all = WaitingFacts(ordinal: 0)
    all.merge(given)
    for name in [mine, theirs] where name != target {
      guard let waiting = try transaction.waitingMessages.takeWaiting(name, in: conversation) else {
        continue
      }
      try moveFacts(of: name, to: target, in: conversation)
      if let first = waiting.traits.names.first { key = min(key, first) }
      names.formUnion(waiting.traits.names)
      all.merge(waiting)
    }
    var kept: [MessageID] = []
    try transaction.waitingMessages.noteWaiting(target, in: conversation) {
      (waiting) throws(StoreError) in
      if let first = waiting.traits.names.first { key = min(key, first) }
      names.formUnion(waiting.traits.names)
      waiting.merge(all)
      kept =
        [key]
        + names.subtracting([key, target]).sorted().prefix(MessageTraits.maximumNameCount - 1)
      waiting.traits.names = kept
    }
    for name in kept {
      try transaction.messageNames.writeEntry(.alias(of: target), of: name, in: conversation)
    }
    transaction.noteLookupChange(in: conversation)
    try transaction.messageNames.forget(names.subtracting(kept).sorted(), in: conversation)
  }

  /// Marks all these names as deleted, if the message was deleted under one of them, and the names
  /// that wait with them.
  func deleteUnder(
    _ names: [MessageID], in conversation: OpenConversation
  ) throws(StoreError) {
    for name in names {
      var gone = [name]
      switch try view.ids.entry(of: name, in: conversation.number) {
      case .deleted?: continue
      case .here(let position)?:
        try transaction.receivedMessages.delete(at: position, in: conversation)
        continue
      case .alias(let own)?: gone.append(own)
      case nil: break
      }
      for id in gone {
        guard let waiting = try transaction.waitingMessages.takeWaiting(id, in: conversation.number)
        else { continue }
        view.source.isErasing = true
        try transaction.messageFacts.removeFacts(of: id, in: conversation.number)
        if !waiting.traits.names.isEmpty { transaction.noteLookupChange(in: conversation.number) }
        gone += waiting.traits.names
      }
      for name in gone {
        try transaction.messageNames.writeEntry(.deleted, of: name, in: conversation.number)
      }
    }
  }

  /// Moves the facts under one name to another name, merging them with the facts there.
  ///
  /// Moved versions may equal the shown one or be greater. The caller still has to merge those.
  private func moveFacts(
    of id: MessageID, to other: MessageID, in conversation: UInt32
  ) throws(StoreError) {
    try moveFacts(of: id, in: conversation, to: other, in: conversation)
  }

  func moveFacts(
    of id: MessageID, in conversation: UInt32, to other: MessageID, in target: UInt32
  ) throws(StoreError) {
    guard id != other || conversation != target else { return }
    try transaction.emit(.messageMoved(id, in: conversation, to: other, target: target))
    if id != other {
      try transaction.receipts.moveExact(
        of: id, to: other, in: try transaction.conversation(target))
    }
    let prefix = FactKey.prefix(conversation, id)
    guard try transaction.messageFacts.hasFacts(prefix) else { return }
    for version in try view.facts.versions(of: id, in: conversation) {
      try transaction.messageFacts.putVersion(version, of: other, in: target)
    }
    try transaction.messageFacts.moveAttachments(of: id, in: conversation, to: other, in: target)
    // The caller counts them.
    try transaction.messageFacts.copyReactions(of: id, in: conversation, to: other, in: target)
    try transaction.messageUpdates.copyTags(of: id, in: conversation, to: other, in: target)
    for (member, receipt) in try view.facts.exactReceipts(of: id, in: conversation) {
      try transaction.receipts.join(receipt, of: member, with: other, in: target)
    }
    try transaction.receipts.moveWaitingMarks(of: id, in: conversation, to: other, in: target)
    try transaction.messageFacts.copyOwnFields(of: id, in: conversation, to: other, in: target)
    try transaction.messageFacts.removeFacts(prefix)
  }
}

extension Transaction {
  var identities: Identities { Identities(transaction: self) }
}
