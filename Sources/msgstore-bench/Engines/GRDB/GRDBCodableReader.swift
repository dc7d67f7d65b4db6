#if Peers
  import GRDB

  /// GRDB as most users write it: a `Codable` record, fetched by a request.
  final class GRDBCodableReader: TailReader {
    let name = EngineName.grdbCodable
    var isExact = false
    private unowned let engine: GRDBEngine
    /// The place where `scroll` continues: the thread, and its first message so far.
    private var scrolled: (conversation: Int, first: PeerMessage?) = (0, nil)

    init(_ engine: GRDBEngine) {
      self.engine = engine
    }

    func tail(of conversation: Int, count: Int) throws -> Reading {
      startScroll(conversation)
      return try scroll(count: count)
    }

    func startScroll(_ conversation: Int) {
      scrolled = (conversation, nil)
    }

    func scroll(count: Int) throws -> Reading {
      typealias Columns = GRDBCodableMessage.Columns
      let pool = try engine.current
      let number = PeerMessage.number(scrolled.conversation)
      let first = scrolled.first
      var last: PeerMessage?
      var reading = makeReading()
      reading.nanoseconds = try timed {
        let rows = try pool.read { database in
          var request = GRDBCodableMessage.filter(Columns.conversation == number)
          if let first {
            request = request.filter(
              sql: "(pending, ts, seq, id) < (?, ?, ?, ?)",
              arguments: [first.isPending, first.time, first.sequence, first.id])
          }
          return
            try request
            .order(
              Columns.isPending.desc, Columns.time.desc, Columns.sequence.desc, Columns.id.desc
            )
            .limit(count)
            .fetchAll(database)
        }
        let messages = rows.map(\.message)
        reading.digest.fold(messages, newestFirst: true, in: number)
        last = messages.last
      }
      scrolled.first = last ?? first
      return reading
    }
  }
#endif
