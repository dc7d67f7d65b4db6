#if Peers
  /// Operations on existing messages: reading, editing and counting.
  extension LMDBEngine {
    func markRead(
      _ messages: [ChatMessage], at time: Int64, as form: ReceiptForm
    ) throws -> UInt64 {
      guard let first = messages.first, let last = messages.last else { return 0 }
      let environment = try current
      let (from, to) = (PeerMessage(first), PeerMessage(last))
      var count = 0
      let elapsed = try timed {
        try environment.write { transaction in
          switch form {
          case .rows: count = try putReceipts(from: from, at: time, in: transaction)
          case .marks:
            key.makeMarkKey(to.conversation, (localMember, to.place))
            value.clear()
            value.append(time)
            try transaction.put(key, value)
            count = messages.count
          }
          try update(to.conversation, in: transaction) { $0.unreadCount = 0 }
        }
      }
      guard count == messages.count else {
        throw BenchError("lmdb has marked \(count) of \(messages.count)")
      }
      return elapsed
    }

    /// Writes a receipt for each message of other members from one on, which requires reading those
    /// messages.
    private func putReceipts(
      from first: PeerMessage, at time: Int64, in transaction: LMDBTransaction
    ) throws -> Int {
      var ids: [String] = []
      try transaction.withCursor { cursor in
        let prefix = LMDBBuffer()
        prefix.makeThreadKey(first.conversation)
        key.makeMessageKey(first)
        var isFound = try cursor.seek(key)
        while isFound, cursor.isWithin(prefix) {
          let message = unsafe PeerMessage(key: cursor.key, value: cursor.value)
          if !message.isPending, message.sender != localMember { ids.append(message.id) }
          isFound = try cursor.next()
        }
      }
      value.clear()
      value.append(time)
      for id in ids {
        key.makeReceiptKey(first.conversation, id, member: localMember)
        _ = try transaction.putIfAbsent(key, value)
      }
      return ids.count
    }

    func edit(_ message: ChatMessage, at time: Int64) throws -> UInt64 {
      let environment = try current
      let draft = PeerDraft(message)
      return try timed {
        try environment.write { transaction in
          let message = draft.message
          let stored = try storedMessage(message.id, message.conversation, transaction)
          key.makeVersionKey(message.id, message.conversation, time: stored.editedAt ?? stored.time)
          value.clear()
          value.append(stored.text)
          try transaction.put(key, value)
          var new = stored
          new.text = message.text
          new.editedAt = time
          key.makeMessageKey(new)
          value.makeValue(of: new)
          try transaction.put(key, value)
          key.makeConversationKey(message.conversation)
          guard let summary = try unsafe transaction.value(of: key),
            unsafe LMDBSummary(summary).shows(message.id)
          else { return }
          try update(message.conversation, in: transaction) { $0.showText(of: draft) }
        }
      }
    }

    func react(_ reaction: ChatReaction, to message: ChatMessage) throws -> UInt64 {
      let environment = try current
      let number = PeerMessage.number(message.conversation)
      return try timed {
        try environment.write { transaction in
          var stored = try storedMessage(message.id, number, transaction)
          stored.extras = (stored.extras ?? MessageExtras()).adding(reaction)
          key.makeMessageKey(stored)
          value.makeValue(of: stored)
          try transaction.put(key, value)
        }
      }
    }

    func receiveMark(
      of member: String, upTo message: ChatMessage, at time: Int64
    ) throws -> UInt64 {
      let environment = try current
      let message = PeerMessage(message)
      return try timed {
        try environment.write { transaction in
          key.makeMarkKey(message.conversation, (member, message.place))
          value.clear()
          value.append(time)
          try transaction.put(key, value)
        }
      }
    }

    func mute(_ conversations: [Int]) throws {
      try current.write { transaction in
        for conversation in conversations {
          try update(PeerMessage.number(conversation), in: transaction) { $0.isMuted = true }
        }
      }
    }

    // MARK: What is unread in all

    func keepUnreadTotals() throws {
      var totals: [Int64] = [0, 0]
      try current.read { _, cursor in
        key.makeConversationKey(0)
        var isFound = try cursor.seek(key)
        while isFound {
          var reader = unsafe LMDBReader(cursor.key)
          guard reader.number(UInt8.self) == LMDBKind.conversation.rawValue else { return }
          let summary = unsafe LMDBSummary(cursor.value)
          totals[summary.isMuted ? 1 : 0] += summary.unreadCount
          isFound = try cursor.next()
        }
      }
      try current.write { try put(totals, in: $0) }
      keepsTotals = true
    }

    private func put(_ totals: [Int64], in transaction: LMDBTransaction) throws {
      key.makeTotalsKey()
      value.clear()
      for total in totals { value.append(total) }
      try transaction.put(key, value)
    }

    private func totals(in transaction: LMDBTransaction) throws -> [Int64] {
      key.makeTotalsKey()
      guard let stored = try unsafe transaction.value(of: key) else {
        throw BenchError("lmdb: no totals")
      }
      var reader = unsafe LMDBReader(stored)
      return [reader.number(), reader.number()]
    }

    func updateTotals(
      from old: LMDBSummary, to new: LMDBSummary, in transaction: LMDBTransaction
    ) throws {
      guard old.unreadCount != new.unreadCount || old.isMuted != new.isMuted else { return }
      var totals = try totals(in: transaction)
      totals[old.isMuted ? 1 : 0] -= old.unreadCount
      totals[new.isMuted ? 1 : 0] += new.unreadCount
      try put(totals, in: transaction)
    }

    func unreadTotals(times: Int) throws -> Reading {
      let environment = try current
      var reading = makeReading()
      reading.nanoseconds = try timed {
        for _ in 0..<times {
          for total in try environment.read({ transaction, _ in try totals(in: transaction) }) {
            reading.digest.fold(UInt64(bitPattern: total))
          }
        }
      }
      return reading
    }

    // MARK: Looking back

    func readers(of wanted: MessageKey, as form: ReceiptForm) throws -> [Reader] {
      let number = PeerMessage.number(wanted.conversation)
      return try current.read { transaction, cursor in
        switch form {
        case .rows:
          key.makeReceiptKey(number, wanted.id, member: "")
          return try values(of: key, &cursor) { member, value in
            Reader(member: member.string, time: value.number())
          }
        case .marks:
          let message = try storedMessage(wanted.id, number, transaction)
          key.makeMarkKey(number, nil)
          let marks = try values(of: key, &cursor) { key, value in
            (member: key.countedString(), place: key.place(), time: value.number(Int64.self))
          }
          // The first mark of a member that is not before the message.
          var readers: [Reader] = []
          for mark in marks where mark.member != message.sender && mark.place >= message.place {
            guard !readers.contains(where: { $0.member == mark.member }) else { continue }
            readers.append(Reader(member: mark.member, time: mark.time))
          }
          return readers
        }
      }
    }

    func earlierTexts(of wanted: MessageKey) throws -> [String] {
      try current.read { _, cursor in
        key.makeVersionKey(wanted.id, PeerMessage.number(wanted.conversation), time: nil)
        return try values(of: key, &cursor) { _, value in value.string }
      }
    }

    /// Returns values made from the rest of each key with a prefix, and from its value.
    private func values<Value>(
      of prefix: LMDBBuffer, _ cursor: inout LMDBCursor,
      make: (inout LMDBReader, inout LMDBReader) -> Value
    ) throws -> [Value] {
      var values: [Value] = []
      var isFound = try cursor.seek(prefix)
      while isFound, cursor.isWithin(prefix) {
        var key = unsafe LMDBReader(
          UnsafeRawBufferPointer(rebasing: cursor.key[prefix.count...]))
        var value = unsafe LMDBReader(cursor.value)
        values.append(make(&key, &value))
        isFound = try cursor.next()
      }
      return values
    }
  }

  extension LMDBReader {
    /// The remaining bytes as a string.
    fileprivate var string: String {
      mutating get { unsafe String(decoding: rest(), as: UTF8.self) }
    }
  }
#endif
