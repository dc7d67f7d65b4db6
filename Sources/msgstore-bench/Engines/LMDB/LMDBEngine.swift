#if Peers
  import CLMDB

  /// LMDB with keys and values packed by hand; see `LMDBKind` for the contents of its tree.
  ///
  /// Keys and values are assembled in reused buffers. LMDB has no WAL: a commit writes its changed
  /// pages to other places of the file, and then a root.
  final class LMDBEngine: Engine {
    let name = EngineName.lmdb
    let directory: String
    var isExact = false
    private var environment: LMDBEnvironment?
    private var durability = Durability.relaxed
    /// True if sums of unread messages are kept.
    var keepsTotals = false
    let key = LMDBBuffer()
    let value = LMDBBuffer()
    /// The place where `scroll` continues: the thread, and its first message so far.
    var scrolled: (conversation: Int, first: PeerMessage?) = (0, nil)
    lazy var variants: [any TailReader] = [LMDBBytesReader(self)]

    init(directory: String) {
      self.directory = directory
    }

    var current: LMDBEnvironment {
      get throws {
        guard let environment else { throw BenchError("lmdb is not open") }
        return environment
      }
    }

    var settings: String {
      var major: Int32 = 0
      var minor: Int32 = 0
      var patch: Int32 = 0
      unsafe _ = mdb_version(&major, &minor, &patch)
      return "\(major).\(minor).\(patch), packed keys and values in one tree, map of "
        + "\(LMDBEnvironment.mapByteCount >> 30) GiB, no MDB_WRITEMAP, read transaction and cursor "
        + "renewed; full is the default sync, relaxed is MDB_NOSYNC, by which a power cut may "
        + "break the file"
    }

    // MARK: The store

    func open() throws {
      environment = try LMDBEnvironment(directory: directory)
      try use(durability)
    }

    func close() {
      environment?.close()
      environment = nil
    }

    func checkpoint() throws { try current.sync() }

    func use(_ durability: Durability) throws {
      self.durability = durability
      try current.use(durability)
    }

    var walByteCount: UInt64? { nil }

    // MARK: Writing

    func put(_ conversations: [CorpusConversation]) throws {
      try current.write { transaction in
        for (index, conversation) in conversations.enumerated() {
          key.makeConversationKey(PeerMessage.number(index))
          value.makeValue(of: conversation)
          try transaction.put(key, value)
        }
      }
    }

    func insert(_ messages: [ChatMessage]) throws -> UInt64 {
      let environment = try current
      let drafts = messages.map(PeerDraft.init)
      return try timed { try insert(drafts, in: environment) }
    }

    private func insert(_ drafts: [PeerDraft], in environment: LMDBEnvironment) throws {
      try environment.write { transaction in
        var changes: [Int64: SummaryChange] = [:]
        for (index, draft) in drafts.enumerated() {
          guard try insert(draft.message, in: transaction) else { continue }
          changes[
            draft.message.conversation,
            default: SummaryChange(newest: index, time: draft.message.time)
          ].add(index, time: draft.message.time, isUnread: draft.isUnread)
        }
        for (conversation, change) in changes {
          let newest = drafts[change.newest]
          try update(conversation, in: transaction) { summary in
            summary.messageCount += change.count
            summary.unreadCount += change.unreadCount
            if newest.message.time >= summary.lastActivity ?? .min { summary.show(newest) }
          }
        }
      }
    }

    /// Inserts a message.
    ///
    /// Returns false if its id is already present.
    private func insert(_ message: PeerMessage, in transaction: LMDBTransaction) throws -> Bool {
      key.makeIDKey(message.id, message.conversation)
      value.clear()
      value.append(message.place)
      guard try transaction.putIfAbsent(key, value) else { return false }
      key.makeMessageKey(message)
      value.makeValue(of: message)
      try transaction.put(key, value)
      return true
    }

    /// Changes the stored record of a conversation, and everything derived from it.
    func update(
      _ conversation: Int64, in transaction: LMDBTransaction, _ change: (inout LMDBSummary) -> Void
    ) throws {
      key.makeConversationKey(conversation)
      guard let stored = try unsafe transaction.value(of: key) else {
        throw BenchError("lmdb does not know conversation \(conversation)")
      }
      let old = unsafe LMDBSummary(stored)
      var new = old
      change(&new)
      new.put(into: value)
      try transaction.put(key, value)
      if new.lastActivity != old.lastActivity {
        if let activity = old.lastActivity {
          key.makeActivityKey(activity, conversation)
          try transaction.remove(key)
        }
        if let activity = new.lastActivity {
          key.makeActivityKey(activity, conversation)
          value.clear()
          try transaction.put(key, value)
        }
      }
      if keepsTotals { try updateTotals(from: old, to: new, in: transaction) }
    }

    func acknowledge(_ message: ChatMessage) throws -> UInt64 {
      let environment = try current
      let message = PeerMessage(message)
      return try timed {
        try environment.write { transaction in
          let stored = try storedMessage(message.id, message.conversation, transaction)
          key.makeMessageKey(stored)
          try transaction.remove(key)
          var moved = stored
          moved.isPending = false
          moved.time = message.time
          moved.sequence = message.sequence
          moved.status = message.status
          key.makeMessageKey(moved)
          value.makeValue(of: moved)
          try transaction.put(key, value)
          key.makeIDKey(message.id, message.conversation)
          value.clear()
          value.append(moved.place)
          try transaction.put(key, value)
          try update(message.conversation, in: transaction) { $0.acknowledge(moved) }
        }
      }
    }

    /// Returns a message that is about to be changed.
    func storedMessage(
      _ id: String, _ conversation: Int64, _ transaction: LMDBTransaction
    ) throws -> PeerMessage {
      guard
        let message = try unsafe find(
          id, conversation, in: transaction,
          make: { unsafe PeerMessage(key: $0, value: $1) })
      else { throw BenchError("lmdb does not know \(id)") }
      return message
    }

    func openInsertClose(_ message: ChatMessage) throws -> UInt64 {
      let drafts = [PeerDraft(message)]
      return try timed {
        let environment = try LMDBEnvironment(directory: directory)
        try insert(drafts, in: environment)
        environment.close()
      }
    }
  }

  extension PeerMessage {
    var place: LMDBPlace { LMDBPlace(isPending: isPending, time: time, sequence: sequence) }
  }
#endif
