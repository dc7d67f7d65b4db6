import MsgStore
import PageFile

/// Rules 2 and 3: messages, ids and conversations.
extension StoreCheck {
  func messages(_ view: StoreView) throws(StoreError) {
    var summary = ConversationSummary(created: 0)
    var number: UInt32?
    try walkMessages(view, reports: true) { (key, value) throws(StoreError) in
      guard let conversation = key.bigEndianNumber(at: 0), let position = key.dropFirst(4).position
      else { return report("messages: key of \(key.count) bytes does not decode to a position") }
      if leftovers.contains(conversation) { return }
      if conversation != number {
        number = conversation
        do throws(StoreError) {
          summary = try view.conversations.summary(conversation)
        } catch .corruptRecord(let tree, let reason) {
          report("\(tree): \(reason)")
          summary = ConversationSummary(created: 0)
        }
      }
      let name = "message \"\(position.id)\" of conversation \(conversation)"
      guard let record = MessageRecord(value),
        let message = StoredMessage(record, at: position.place)
      else { return report("\(name): malformed record or text") }
      for id in [position.id] + message.traits.names
      where try view.ids.position(of: id, in: conversation) != position {
        report("\(name): id entry \"\(id)\" is missing or leads elsewhere")
      }
      let (order, next) = (position.place.rank, summary.nextLocalOrder)
      if position.place.isPending, order >= next {
        report("\(name): local order \(order) is not below the next one (\(next))")
      }
      try facts(of: message, at: position, name, view, in: conversation)
      if view.names[record.sender] == nil {
        do throws(StoreError) {
          _ = try view.member(record.sender)
        } catch .corruptRecord(_, let reason) {
          report("\(name): \(reason)")
        }
      }
      var recount = recounts[conversation] ?? Recount()
      try countExpiry(of: message, at: position, name, view, in: conversation, &recount)
      if message.traits.isLetGo {
        recounts[conversation] = recount
        return
      }
      recount.activity =
        recount.messageCount == 0
        ? position.place.time : max(recount.activity, position.place.time)
      recount.messageCount += 1
      try countTags(of: message, at: position, name, view, in: conversation, &recount)
      recount.unread = recount.unread + view.receipts.unreadCount(message, at: position, summary)
      if let answered = message.shownReply {
        recount.replies.add(1, ReplyKey.digest(of: answered), ThreadMoment(position.place))
      }
      if !position.place.isPending { recount.newestTime = position.place.time }
      let isPassedOver =
        position.place.isPending && message.status == .failed
        && recount.newestTime.map { position.place.time < $0 } ?? false
      if !isPassedOver {
        var last = try view.messages.last(message, at: position, in: conversation)
        last.text = ConversationPreview.cut(last.text)
        recount.last = last
      }
      recounts[conversation] = recount
    }
  }

  func conversations(_ view: StoreView) throws(StoreError) {
    try walk(Schema.conversations, view) { (key, value) throws(StoreError) in
      guard let number = key.bigEndianNumber(at: 0) else {
        return report("conversations: malformed key (\(key.count) bytes)")
      }
      if key.count > 4, !Schema.canRead(key, value, in: Schema.conversations) {
        report("conversations: cell \(key[4]) of conversation \(number): malformed record")
      }
      try reporting { () throws(StoreError) in
        let summary = try view.conversations.summary(number)
        if key.count == 4 { try conversation(number, view, summary) }
      }
    }
  }

  private func conversation(
    _ number: UInt32, _ view: StoreView, _ summary: ConversationSummary
  ) throws(StoreError) {
    if leftovers.contains(number) {
      report("conversations: conversation \(number) is being cleared but exists")
    }
    let details = try view.conversations.details(number)
    let name = "conversation \"\(details.id)\""
    let recount = recounts[number] ?? Recount()
    if summary.messageCount != recount.messageCount {
      report("\(name): message count \(summary.messageCount), found \(recount.messageCount)")
    }
    if summary.unreadCount != recount.unread.messages {
      report("\(name): unread count \(summary.unreadCount), found \(recount.unread.messages)")
    }
    if summary.mentionCount != recount.unread.mentions {
      report("\(name): mention count \(summary.mentionCount), found \(recount.unread.mentions)")
    }
    if summary.last != recount.last { report("\(name): wrong last message") }
    if summary.activity != recount.activity {
      report("\(name): activity \(summary.activity), found \(recount.activity)")
    }
    for id in [details.id] + details.aliases
    where try view.number(of: id) != number {
      report("\(name): name \"\(id)\" does not lead to number \(number)")
    }
    try members(of: number, details, view)
    try muteEnd(of: number, details, summary, view)
    if let place = summary.listPlace {
      if try !view.contains(place.key(number), in: Schema.activity) {
        report("\(name): missing from the list")
      }
    }
  }

  func ids(_ view: StoreView) throws(StoreError) {
    try walk(Schema.ids, view) { (key, value) throws(StoreError) in
      guard let conversation = key.bigEndianNumber(at: 0), key.count > 4,
        let entry = IDEntry(MessageID(key.dropFirst(4)), value)
      else { return report("ids: malformed entry (key of \(key.count) bytes)") }
      if leftovers.contains(conversation) { return }
      let id = MessageID(key.dropFirst(4))
      let name = "ids: message \"\(id)\" of conversation \(conversation)"
      switch entry {
      case .deleted: break
      case .alias(let other):
        if try !view.contains(FactKey.prefix(conversation, other, .waiting), in: Schema.facts) {
          report("\(name): no waiting facts under \"\(other)\"")
        }
      case .here(let position):
        do throws(StoreError) {
          if try !view.messages.hasMessage(at: position, in: conversation) {
            report("\(name): not at its place")
          }
        } catch .corruptRecord {
          // The malformed segment was reported.
        }
      }
    }
  }
}
