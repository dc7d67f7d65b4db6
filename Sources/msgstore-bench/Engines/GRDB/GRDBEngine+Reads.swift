#if Peers
  import GRDB

  extension GRDBEngine {
    func tail(of conversation: Int, count: Int) throws -> Reading {
      try reading(of: conversation) { database, number in
        try database.fetchAll(.tail, [number, count])
      }
    }

    func startScroll(_ conversation: Int) {
      scrolled = (conversation, nil)
    }

    func scroll(count: Int) throws -> Reading {
      let (conversation, first) = scrolled
      var last: PeerMessage?
      let reading = try reading(of: conversation) { database, number in
        let rows: [PeerMessage]
        if let first {
          rows = try database.fetchAll(
            .before, [number, count, first.isPending, first.time, first.sequence, first.id])
        } else {
          rows = try database.fetchAll(.tail, [number, count])
        }
        last = rows.last
        return rows
      }
      scrolled.first = last ?? first
      return reading
    }

    func around(_ time: Int64, in conversation: Int, count: Int) throws -> Reading {
      let pool = try current
      let number = PeerMessage.number(conversation)
      var reading = makeReading()
      reading.nanoseconds = try timed {
        let (older, newer) = try pool.read { database in
          let older = try database.fetchAll(
            .earlierThan, [number, count / 2, time], as: PeerMessage.self)
          let newer = try database.fetchAll(
            .notEarlierThan, [number, count - count / 2, time], as: PeerMessage.self)
          return (older, newer)
        }
        reading.digest.fold(older, newestFirst: true, in: number)
        reading.digest.fold(newer, newestFirst: false, in: number)
      }
      return reading
    }

    func messages(_ keys: [MessageKey]) throws -> Reading {
      let pool = try current
      var reading = makeReading()
      reading.nanoseconds = try timed {
        for key in keys {
          let number = PeerMessage.number(key.conversation)
          let message = try pool.read { database in
            try PeerMessage.fetchOne(
              database.cachedStatement(sql: SQLiteQuery.byID.text), arguments: [key.id, number])
          }
          guard let message else { throw BenchError("grdb: not found: \(key.id)") }
          reading.digest.fold(message, in: number)
        }
      }
      return reading
    }

    func list(count: Int) throws -> Reading {
      let pool = try current
      var reading = makeReading()
      reading.nanoseconds = try timed {
        let list = try pool.read { database in
          try database.fetchAll(.list, [count], as: PeerConversation.self)
        }
        reading.digest.fold(list)
      }
      return reading
    }

    func openTailClose(of conversation: Int, count: Int) throws -> Reading {
      let number = PeerMessage.number(conversation)
      var reading = makeReading()
      reading.nanoseconds = try timed {
        let pool = try makePool()
        let rows = try pool.read { database in
          try database.fetchAll(.tail, [number, count], as: PeerMessage.self)
        }
        try pool.close()
        reading.digest.fold(rows, newestFirst: true, in: number)
      }
      return reading
    }

    func fingerprint(of conversation: Int) throws -> UInt64 {
      try current.read { database in
        let cursor = try PeerMessage.fetchCursor(
          database.cachedStatement(sql: SQLiteQuery.tail.text),
          arguments: [PeerMessage.number(conversation), Int64.max])
        var sum: UInt64 = 0
        while let message = try cursor.next() { sum &+= Fingerprint.of(message.whole) }
        return sum
      }
    }

    /// Times a read of rows that come newest first and are then folded oldest first.
    private func reading(
      of conversation: Int, _ body: (Database, Int64) throws -> [PeerMessage]
    ) throws -> Reading {
      let pool = try current
      let number = PeerMessage.number(conversation)
      var reading = makeReading()
      reading.nanoseconds = try timed {
        let rows = try pool.read { try body($0, number) }
        reading.digest.fold(rows, newestFirst: true, in: number)
      }
      return reading
    }
  }
#endif
