#if Peers
  extension LMDBEngine {
    func tail(of conversation: Int, count: Int) throws -> Reading {
      let number = PeerMessage.number(conversation)
      let environment = try current
      var reading = makeReading()
      reading.nanoseconds = try timed {
        let found = try environment.read { _, cursor in
          key.makeThreadKey(number + 1)
          return try messages(before: key, of: number, count: count, &cursor)
        }
        reading.digest.fold(found, newestFirst: true, in: number)
      }
      return reading
    }

    func startScroll(_ conversation: Int) {
      scrolled = (conversation, nil)
    }

    func scroll(count: Int) throws -> Reading {
      let (conversation, first) = scrolled
      let number = PeerMessage.number(conversation)
      let environment = try current
      var reading = makeReading()
      var last: PeerMessage?
      reading.nanoseconds = try timed {
        let found = try environment.read { _, cursor in
          if let first { key.makeMessageKey(first) } else { key.makeThreadKey(number + 1) }
          return try messages(before: key, of: number, count: count, &cursor)
        }
        reading.digest.fold(found, newestFirst: true, in: number)
        last = found.last
      }
      scrolled.first = last ?? first
      return reading
    }

    func around(_ time: Int64, in conversation: Int, count: Int) throws -> Reading {
      let number = PeerMessage.number(conversation)
      let environment = try current
      var reading = makeReading()
      reading.nanoseconds = try timed {
        let (older, newer) = try environment.read { _, cursor in
          key.makeTimeKey(number, time)
          let older = try messages(before: key, of: number, count: count / 2, &cursor)
          key.makeTimeKey(number, time)
          return (older, try messages(from: key, of: number, count: count - count / 2, &cursor))
        }
        reading.digest.fold(older, newestFirst: true, in: number)
        reading.digest.fold(newer, newestFirst: false, in: number)
      }
      return reading
    }

    func messages(_ keys: [MessageKey]) throws -> Reading {
      let environment = try current
      var reading = makeReading()
      reading.nanoseconds = try timed {
        for wanted in keys {
          let number = PeerMessage.number(wanted.conversation)
          let message = try environment.read { transaction, _ in
            try unsafe find(
              wanted.id, number, in: transaction,
              make: { unsafe PeerMessage(key: $0, value: $1) })
          }
          guard let message else { throw BenchError("lmdb does not find \(wanted.id)") }
          reading.digest.fold(message, in: number)
        }
      }
      return reading
    }

    func list(count: Int) throws -> Reading {
      let environment = try current
      var reading = makeReading()
      reading.nanoseconds = try timed {
        let list = try environment.read { transaction, cursor in
          var list: [PeerConversation] = []
          list.reserveCapacity(count)
          key.makeKey(after: .activity)
          var isFound = try cursor.seek(before: key)
          while isFound, list.count < count {
            var reader = unsafe LMDBReader(cursor.key)
            guard reader.number(UInt8.self) == LMDBKind.activity.rawValue else { break }
            _ = reader.orderedNumber()
            let number = reader.conversation()
            key.makeConversationKey(number)
            guard let stored = try unsafe transaction.value(of: key) else { break }
            list.append(unsafe LMDBSummary(stored).conversation(number))
            isFound = try cursor.previous()
          }
          return list
        }
        reading.digest.fold(list)
      }
      return reading
    }

    func openTailClose(of conversation: Int, count: Int) throws -> Reading {
      let number = PeerMessage.number(conversation)
      var reading = makeReading()
      reading.nanoseconds = try timed {
        let environment = try LMDBEnvironment(directory: directory)
        let found = try environment.read { _, cursor in
          key.makeThreadKey(number + 1)
          return try messages(before: key, of: number, count: count, &cursor)
        }
        environment.close()
        reading.digest.fold(found, newestFirst: true, in: number)
      }
      return reading
    }

    func fingerprint(of conversation: Int) throws -> UInt64 {
      let number = PeerMessage.number(conversation)
      return try current.read { _, cursor in
        var sum: UInt64 = 0
        key.makeThreadKey(number)
        var isFound = try cursor.seek(key)
        while isFound, cursor.isWithin(key) {
          sum &+= Fingerprint.of(unsafe PeerMessage(key: cursor.key, value: cursor.value).whole)
          isFound = try cursor.next()
        }
        return sum
      }
    }

    // MARK: What reads have in common

    /// Returns the messages of a conversation before a key, newest first.
    ///
    /// Reuses the key's buffer.
    @inline(__always)
    private func messages(
      before key: LMDBBuffer, of conversation: Int64, count: Int, _ cursor: inout LMDBCursor
    ) throws -> [PeerMessage] {
      var messages: [PeerMessage] = []
      messages.reserveCapacity(count)
      var isFound = try cursor.seek(before: key)
      key.makeThreadKey(conversation)
      while isFound, messages.count < count, cursor.isWithin(key) {
        messages.append(unsafe PeerMessage(key: cursor.key, value: cursor.value))
        if messages.count < count { isFound = try cursor.previous() }
      }
      return messages
    }

    /// Returns the messages of a conversation from a key on, oldest first.
    ///
    /// Reuses the key's buffer.
    @inline(__always)
    private func messages(
      from key: LMDBBuffer, of conversation: Int64, count: Int, _ cursor: inout LMDBCursor
    ) throws -> [PeerMessage] {
      var messages: [PeerMessage] = []
      messages.reserveCapacity(count)
      var isFound = try cursor.seek(key)
      key.makeThreadKey(conversation)
      while isFound, messages.count < count, cursor.isWithin(key) {
        messages.append(unsafe PeerMessage(key: cursor.key, value: cursor.value))
        if messages.count < count { isFound = try cursor.next() }
      }
      return messages
    }

    /// Finds a message by its id and calls `make` with its key and value in place.
    @inline(__always)
    func find<Result>(
      _ id: String, _ conversation: Int64, in transaction: LMDBTransaction,
      make: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result? {
      key.makeIDKey(id, conversation)
      guard let stored = try unsafe transaction.value(of: key) else { return nil }
      var reader = unsafe LMDBReader(stored)
      key.makeMessageKey(conversation, reader.place(), id)
      guard let value = try unsafe transaction.value(of: key) else { return nil }
      return try unsafe make(key.bytes, value)
    }
  }
#endif
