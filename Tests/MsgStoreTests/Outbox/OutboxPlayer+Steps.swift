import MsgStore
import PageFile
import Testing

/// The operations that are played.
extension OutboxPlayer {
  func play(stepCount: Int, checkEvery: Int) throws {
    for step in 0..<stepCount {
      try self.step()
      if step % checkEvery == 0 { try expectSound() }
    }
    try expectSound()
    try finish()
  }

  private func step() throws {
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<18: try compose()
    case 18..<25: try edit()
    case 25..<30: try retract()
    case 30..<34: try react()
    case 34..<43: try receive()
    case 43..<46: try setTitle()
    case 46..<49: try changeConversations()
    case 49..<54: try setField()
    case 54..<65: try next()
    case 65..<80: try answer()
    case 80..<92: try decide()
    case 92..<97: moveClock()
    case 97: try kill()
    case 98: try cutPower()
    default:
      if let upload = model.unprepared.randomElement(using: &random) {
        try prepare(upload)
      } else {
        try doWork()
      }
    }
  }

  /// In the end everything goes, and nothing is left.
  private func finish() throws {
    for round in 0..<5000 where !model.entries.isEmpty {
      if round % 40 == 0 {
        while let upload = model.unprepared.first { try prepare(upload) }
        try change { (model, chat) throws in
          try chat.outbox.releaseAndRetryAll()
          model.holdsNewEntries = false
          model.releaseAll(in: nil)
          model.retryAll(in: nil, includesFailed: true)
        }
      }
      setClock(now + 400_000_000)
      try next()
      if let last = items.last { try answer(last) { try self.done(last, &$0, $1) } }
    }
    #expect(try store.counts() == OutboxCounts() && model.entries == [])
    try expectSound()
  }

  // MARK: What the local member does

  func room() -> Int? { model.rooms.indices.randomElement(using: &random) }

  func ownMessage() -> MessageID? {
    model.messages.filter { !$0.value.isHidden && !$0.value.isErased }.keys.sorted().randomElement(
      using: &random)
  }

  private func compose() throws {
    serial += 1
    let id = MessageID("m\(serial)")
    let text = "text \(serial)"
    let fileCount = random.chance(25) ? Int.random(in: 1...2, using: &random) : 0
    let files = (0..<fileCount).map { _ in random.chance(30) }
    if model.rooms.count < 4 || random.chance(2), model.rooms.count < 12 {
      let name = ConversationID("room\(model.rooms.count)")
      let isMade = random.chance(50)
      return try change { (model, chat) throws in
        model.rooms.append(.init(name: name))
        guard isMade else {
          try chat.insert(chatMessage("first", in: name, at: 0))
          model.rooms[model.rooms.count - 1].incoming = [0]
          return
        }
        _ = try chat.createGroup(name, participants: ["you", "ann"])
        model.enter(.create, model.rooms.count - 1)
      }
    }
    guard let room = room() else { return }
    if random.chance(5) {
      return try change { (model, chat) throws in
        try chat.outbox.enter(text)
        model.enter(.client(text), -1)
      }
    }
    try change { (model, chat) throws in
      var message = own(id, in: model.rooms[room].name, text)
      message.attachments = files.enumerated().map { (index, isTooLarge) in
        MessageAttachment(
          id: "f\(index)", kind: .image, byteCount: isTooLarge ? 5_000_000 : 5_000)
      }
      try chat.send(message)
      model.send(id, text, files: files, in: room)
    }
  }

  private func edit() throws {
    guard let id = ownMessage(), let room = model.messages[id]?.room else { return }
    serial += 1
    let text = "edit \(serial)"
    try change { (model, chat) throws in
      do {
        let time = try chat.edit(id, in: model.rooms[room].name, text: text)
        guard let time else { return }
        model.messages[id]?.pendingEdits[time] = text
        model.enter(.edit(id, time), room)
      } catch StoreError.message(.tooManyPendingEdits, _, in: _) {}
    }
  }

  private func retract() throws {
    guard let id = ownMessage(), let room = model.messages[id]?.room else { return }
    try change { (model, chat) throws in
      do {
        try chat.retract(id, in: model.rooms[room].name)
        model.retract(id)
      } catch StoreError.message(.tooOldToRetract, _, in: _) {}
    }
  }

  private func react() throws {
    guard let id = ownMessage(), let message = model.messages[id] else { return }
    let emoji = ["👍", "🎉"].randomElement(using: &random) ?? ""
    try change { (model, chat) throws in
      let name = model.rooms[message.room].name
      if message.reactions.contains(emoji) {
        _ = try chat.removeReaction(emoji, from: id, in: name)
      } else {
        _ = try chat.react(emoji, to: id, in: name)
      }
      model.react(emoji, to: id)
    }
  }

  private func setTitle() throws {
    guard let room = room(), model.rooms[room].isVisible else { return }
    serial += 1
    let title = serial
    try change { (model, chat) throws in
      #expect(try chat.setTitle("\(title)", of: model.rooms[room].name))
      model.setTitle(room, to: Int64(title))
    }
  }

  // MARK: Who talks to the server

  private func next() throws {
    let owner = ["a", "b", "c"].randomElement(using: &random) ?? ""
    let lease = Int64.random(in: 1...90, using: &random) * 1_000_000
    try change { (model, chat) throws in
      let item = try chat.outbox.next(for: owner, lease: .microseconds(lease))
      let entry = model.next(
        for: owner, at: now, lease: lease, maximumEndedCount: stepCount)
      #expect(item?.id.rawValue == entry?.id)
      guard let item, var entry, let index = model.index(entry.id) else { return }
      note("\(item.task)".prefix { $0 != "(" }.description)
      #expect(item.attempt == entry.attemptCount && item.expiry.microseconds == now + lease)
      if let token = entry.token {
        #expect(item.token == token)
      } else {
        #expect(item.token != entry.formerToken)
      }
      entry.token = item.token
      model.entries[index] = entry
      expectTask(item.task, entry, model)
      found(item, entry)
    }
  }

  private func expectTask(_ task: OutboxTask, _ entry: OutboxModel.Entry, _ model: OutboxModel) {
    switch task {
    case .send(let message):
      #expect(entry.kind == .send(message.id))
      #expect(message.text == model.messages[message.id]?.text)
    case .edit(let id, let text, _, let time):
      #expect(entry.kind == .edit(id, time))
      #expect(text == model.messages[id]?.pendingEdits[time])
    case .retract(let id): #expect(entry.kind == .retract(id))
    case .react(let emoji, let id, let isRemoved):
      #expect(entry.kind == .react(id, emoji, isRemoved: isRemoved))
    case .receipt(let receipt):
      #expect(entry.kind == .read)
      #expect(receipt.upTo?.place.time == model.rooms[entry.room].marked)
    case .createConversation: #expect(entry.kind == .create)
    case .deleteConversation: #expect(entry.kind == .delete)
    case .setTitle(let title):
      #expect(entry.kind == .title && title == "\(model.rooms[entry.room].title)")
    case .upload(let state):
      #expect(entry.kind == .upload(state.message, state.attachment.id))
    case .client(let name, _): #expect(entry.kind == .client(name))
    case .setOwnField(let field, _): expectField(field, entry, model)
    default: Issue.record("\(task) was never entered")
    }
  }

  /// One who has something, or had it, says how it went.
  private func answer() throws {
    // Late, mostly of what is still there: others may have it by now.
    let late = items.filter { model.index($0.entry.id) != nil }
    let chosen =
      switch Int.random(in: 0..<20, using: &random) {
      case 0: items.randomElement(using: &random)
      case 1..<6: late.randomElement(using: &random)
      default: items.suffix(4).randomElement(using: &random)
      }
    guard let item = chosen else { return }
    let kind = FailureKind.allCases.randomElement(using: &random) ?? .other
    let length = Int64.random(in: 1...200, using: &random) * 1_000_000
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<9: try answer(item) { try self.done(item, &$0, $1) }
    case 9..<15:
      try answer(item) {
        try $1.outbox.fail(item.item, because: SendFailure(kind))
        $0.fail(item.entry, kind, at: self.now)
      }
    case 15..<17:
      try answer(item) {
        _ = try $1.outbox.renew(item.item, lease: .microseconds(length))
        $0.renew(item.entry, until: self.now + length)
      }
    case 17..<19:
      try answer(item) {
        try $1.outbox.returnWork(item.item)
        $0.returnWork(item.entry)
      }
    default:
      try answer(item) {
        try $1.outbox.reclaimWork(of: item.item.owner)
        $0.reclaimWork(of: item.item.owner)
      }
    }
  }

  private func answer(
    _ item: Item, _ body: (inout OutboxModel, borrowing StoreWriter) throws -> Void
  ) throws {
    try change { (model, chat) throws in try body(&model, chat) }
  }

  private func done(
    _ item: Item, _ model: inout OutboxModel, _ chat: borrowing StoreWriter
  ) throws {
    let isField = if case .field = item.entry.kind { true } else { false }
    let time: Int64? = isField && random.chance(60) ? newServerTime() : nil
    try chat.outbox.complete(item.item, serverTime: time.map { .init(microseconds: $0) })
    model.done(item.entry, at: time)
    note("done")
  }

  // MARK: What people decide

  private func decide() throws {
    let choice = Int.random(in: 0..<20, using: &random)
    let holdsNewEntries = random.chance(50)
    let room = random.chance(50) ? self.room() : nil
    let index = model.entries.indices.randomElement(using: &random)
    serial += 1
    let text = "changed \(serial)"
    try change { (model, chat) throws in
      switch choice {
      case 0..<2:
        try chat.outbox.setHoldsNewEntries(holdsNewEntries)
        model.holdsNewEntries = holdsNewEntries
        return
      case 2:
        try chat.outbox.releaseAll(in: room.map { model.rooms[$0].name })
        return model.releaseAll(in: room)
      case 3:
        try chat.outbox.retryAll(
          in: room.map { model.rooms[$0].name }, includesFailed: holdsNewEntries)
        return model.retryAll(in: room, includesFailed: holdsNewEntries)
      default: break
      }
      guard let index else { return }
      let entry = model.entries[index]
      let id = OutboxEntry.ID(rawValue: entry.id)
      switch choice {
      case 4..<7:
        if entry.isRunning {
          #expect(throws: StoreError.outbox(.leased, id)) { try chat.outbox.hold(id) }
        } else {
          try chat.outbox.hold(id)
          model.hold(index)
        }
      case 7..<11:
        try chat.outbox.release(id)
        model.release(index)
      case 11..<14:
        try chat.outbox.retry(id)
        model.retryWithUploads(index)
      case 14..<16:
        var copy = model
        if copy.remove(index) {
          do {
            try chat.outbox.remove(id)
            model = copy
          } catch StoreError.message(.tooOldToRetract, _, in: _) {}
        } else {
          #expect(throws: StoreError.self) { try chat.outbox.remove(id) }
        }
      default: try setText(text, index, &model, chat)
      }
    }
  }

  private func setText(
    _ text: String, _ index: Int, _ model: inout OutboxModel, _ chat: borrowing StoreWriter
  ) throws {
    let entry = model.entries[index]
    let id = OutboxEntry.ID(rawValue: entry.id)
    var isAllowed = !entry.isRunning && !entry.mayHaveLeft
    switch entry.kind {
    case .send(let message):
      isAllowed =
        isAllowed && model.messages[message]?.pendingEdits.isEmpty ?? false
        && model.messages[message]?.isHidden == false
      if isAllowed { model.messages[message]?.text = text }
    case .edit(let message, let time):
      isAllowed = isAllowed && model.messages[message]?.isHidden == false
      if isAllowed { model.messages[message]?.pendingEdits[time] = text }
    default: isAllowed = false
    }
    guard isAllowed else {
      #expect(throws: StoreError.self) { try chat.outbox.setText(text, of: id) }
      return
    }
    #expect(try chat.outbox.setText(text, of: id))
    if entry.attemptCount > 0 { model.entries[index].changeToken() }
  }
}
