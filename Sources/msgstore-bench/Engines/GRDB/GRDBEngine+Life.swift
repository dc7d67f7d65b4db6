#if Peers
  import Foundation
  import GRDB

  /// Operations on existing messages: reading, editing and counting.
  extension GRDBEngine {
    func markRead(
      _ messages: [ChatMessage], at time: Int64, as form: ReceiptForm
    ) throws -> UInt64 {
      guard let first = messages.first, let last = messages.last else { return 0 }
      let pool = try current
      let bound = PeerMessage(form == .rows ? first : last)
      return try timed {
        try pool.write { database in
          try database.run(
            form == .rows ? .putReceipts : .putMark,
            [bound.conversation, localMember, time, bound.time, bound.sequence])
          guard database.changesCount == (form == .rows ? messages.count : 1) else {
            throw BenchError("grdb: marked \(database.changesCount) of \(messages.count)")
          }
          try database.run(.markRead, [bound.conversation])
        }
      }
    }

    func edit(_ message: ChatMessage, at time: Int64) throws -> UInt64 {
      let pool = try current
      let draft = PeerDraft(message)
      return try timed {
        let (id, number) = (draft.message.id, draft.message.conversation)
        try pool.write { database in
          try database.run(.keepText, [id, number])
          try database.run(.edit, [id, number, draft.message.text, time])
          guard database.changesCount == 1 else { throw BenchError("grdb: unknown message \(id)") }
          try database.run(.editPreview, [id, number, draft.preview])
        }
      }
    }

    func react(_ reaction: ChatReaction, to message: ChatMessage) throws -> UInt64 {
      let pool = try current
      let (id, number) = (message.id, PeerMessage.number(message.conversation))
      return try timed {
        try pool.write { database in
          let row = try Row.fetchOne(
            database.cachedStatement(sql: SQLiteQuery.extras.text), arguments: [id, number])
          guard let row else { throw BenchError("grdb: unknown message \(id)") }
          let extras = (row[0] as Data?).map(MessageExtras.unpacked) ?? MessageExtras()
          try database.run(.putExtras, [id, number, Data(extras.adding(reaction).packed)])
        }
      }
    }

    func receiveMark(
      of member: String, upTo message: ChatMessage, at time: Int64
    ) throws -> UInt64 {
      let pool = try current
      let message = PeerMessage(message)
      return try timed {
        try pool.write { database in
          try database.run(
            .putMark, [message.conversation, member, time, message.time, message.sequence])
        }
      }
    }

    func mute(_ conversations: [Int]) throws {
      try current.write { database in
        for conversation in conversations {
          try database.run(.mute, [PeerMessage.number(conversation)])
        }
      }
    }

    func keepUnreadTotals() throws {
      try current.write { try $0.execute(sql: SQLiteQuery.totalsSchema) }
    }

    func unreadTotals(times: Int) throws -> Reading {
      let pool = try current
      var reading = makeReading()
      reading.nanoseconds = try timed {
        for _ in 0..<times {
          let totals = try pool.read { database in
            try Int64.fetchAll(database.cachedStatement(sql: SQLiteQuery.unreadTotals.text))
          }
          for total in totals { reading.digest.fold(UInt64(bitPattern: total)) }
        }
      }
      return reading
    }

    func readers(of key: MessageKey, as form: ReceiptForm) throws -> [Reader] {
      let query = form == .rows ? SQLiteQuery.readers : .readersByMarks
      return try current.read { database in
        try Row.fetchAll(
          database.cachedStatement(sql: query.text),
          arguments: [key.id, PeerMessage.number(key.conversation)]
        ).map { Reader(member: $0[0], time: $0[1]) }
      }
    }

    func earlierTexts(of key: MessageKey) throws -> [String] {
      try current.read { database in
        try String.fetchAll(
          database.cachedStatement(sql: SQLiteQuery.earlierTexts.text),
          arguments: [key.id, PeerMessage.number(key.conversation)])
      }
    }
  }
#endif
