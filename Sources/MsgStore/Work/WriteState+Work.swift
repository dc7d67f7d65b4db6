import PageFile

/// Work that is done in steps, one commit each: so that no deletion, however long the thread, makes
/// others wait or the log grow without bound.
///
/// A step ends when it has done so much, or has held the writer for so long that whoever sends a message
/// would notice.
///
/// See docs/message-format.md, Y-1 … Y-3.
struct Steps: TransactionPart {
  let transaction: Transaction

  init(_ transaction: Transaction) { self.transaction = transaction }

  /// Whether there is work left.
  var hasWork: Bool {
    get throws(StoreError) {
      if try transaction.outboxTotals.hasSteps { return true }
      return try view.work.hasStoreWork
    }
  }

  func addWork(_ work: WorkRecord) throws(StoreError) {
    let next = try view.source.value(of: .nextWork) ?? 1
    guard next < WorkRecord.ordinalMax else { throw .numbersExhausted(what: "piece of work") }
    try view.source.set(.nextWork, to: next + 1)
    try write(work, at: next)
  }

  func write(_ work: WorkRecord, at ordinal: UInt64) throws(StoreError) {
    let key = WorkRecord.key(ordinal)
    var value = ByteBuffer()
    work.appendChecked(to: &value)
    try transaction.insert(key.bytes, value.bytes, in: Schema.work)
  }

  /// Does a part of the oldest piece of work, after that of the outbox, which others wait for.
  ///
  /// - Parameter isTimed: Whether it ends when it has held the writer long enough.
  func step(isTimed: Bool = true) throws(StoreError) {
    if isTimed { transaction.beginStep() }
    if try transaction.outboxTotals.hasSteps {
      return try transaction.outboxSweeps.stepOutbox()
    }
    guard let (ordinal, work) = try view.work.work().first else { return }
    let isDone: Bool
    switch work.kind {
    case .sweep:
      isDone = try sweep(work.conversation)
    case .trim(let time):
      isDone = try transaction.deletions.trim(work.conversation, upTo: time)
    case .merge(let target, let summary):
      isDone = try transaction.moves.moveMessages(of: work.conversation, summary, into: target)
    }
    guard isDone else { return }
    let key = WorkRecord.key(ordinal)
    try transaction.remove(key.bytes, in: Schema.work)
  }

  /// Removes what a deleted conversation has left; true when nothing is left.
  func sweep(_ number: UInt32) throws(StoreError) -> Bool {
    view.source.isErasing = true
    let prefix = KeyEncoding.key(number)
    var count = 0
    for tree in Schema.treesByConversation {
      count += try removeAll(prefix.bytes, in: tree, limit: transaction.sweepCountMax - count)
      if transaction.isStepFull(count, of: transaction.sweepCountMax) { return false }
    }
    return true
  }

  /// Removes entries whose keys begin alike; returns how many.
  func removeAll(
    _ prefix: Bytes, in tree: TreeNumber, limit: Int = .max
  ) throws(StoreError) -> Int {
    var count = 0
    var key = ByteBuffer()
    while !transaction.isStepFull(count, of: limit),
      try flushed().firstKey(prefix, in: tree, to: &key)
    {
      count += 1
      if tree == Schema.facts, let parts = FactKey.parts(key.bytes), parts.kind == .waiting,
        try transaction.waitingMessages.takeWaiting(parts.id, in: parts.conversation) != nil
      {
        continue
      }
      if tree == Schema.facts { try transaction.attachments.unlistFact(key.bytes) }
      try transaction.remove(key.bytes, in: tree)
    }
    return count
  }
}

/// How much of long work one commit does.
package struct StepSizes: Sendable {
  /// How many entries one commit may remove.
  package var sweepCountMax: Int
  /// How many messages one commit may move.
  package var mergeCountMax: Int
  /// How many entries of the outbox one commit may change.
  package var entryCountMax: Int
  /// How many conversations and messages one commit of an opening may prepare.
  package var openingCountMax = 500
  /// How many bytes of pages it may have changed before it prepares one more.
  package var openingByteCountMax = 16 << 20
  /// After how long it does no more.
  package var timeMax: Duration

  /// Steps that end by counts alone: a store that nobody waits for gets the same commits from the same
  /// content, however busy the machine is.
  package static var untimed: StepSizes {
    var sizes = StepSizes()
    sizes.timeMax = .seconds(86_400)
    return sizes
  }

  package init(
    sweepCountMax: Int = 1000, mergeCountMax: Int = 500, entryCountMax: Int = 300,
    timeMax: Duration = .milliseconds(5)
  ) {
    self.sweepCountMax = sweepCountMax
    self.mergeCountMax = mergeCountMax
    self.entryCountMax = entryCountMax
    self.timeMax = timeMax
  }
}

extension Schema {
  /// The trees whose keys begin with the number of a conversation, but for that of conversations.
  static let treesByConversation = [messages, ids, facts, receipts, sequences, client]
}

struct WorkReader {
  let view: StoreView

  init(_ view: StoreView) { self.view = view }

  /// Whether there is work left.
  var hasWork: Bool {
    get throws(StoreError) {
      if try hasStoreWork { return true }
      return try view.outbox.totals().hasSteps
    }
  }

  /// Whether there is work left beside that of the outbox, which lies behind it in the same tree.
  var hasStoreWork: Bool {
    get throws(StoreError) {
      if view.source.root(of: Schema.work) == .none { return false }
      var cursor = Cursor(view.source, Schema.work)
      try storage { () throws(PageFileError) in _ = try cursor.first() }
      let start = WorkRecord.keyStart
      return cursor.isAtCell && cursor.keyHasPrefix(start.bytes)
    }
  }

  /// All work that is left, oldest first.
  func work() throws(StoreError) -> [(ordinal: UInt64, work: WorkRecord)] {
    var found: [(ordinal: UInt64, work: WorkRecord)] = []
    var cursor = Cursor(view.source, Schema.work)
    var key = ByteBuffer()
    var value = ByteBuffer()
    try storage { () throws(PageFileError) in _ = try cursor.first() }
    let start = WorkRecord.keyStart
    while cursor.isAtCell, cursor.keyHasPrefix(start.bytes) {
      key.removeAll()
      value.removeAll()
      cursor.appendKey(to: &key)
      try view.append(cursor, to: &value)
      guard key.count == 8, let work = WorkRecord(value.bytes) else {
        throw view.corrupt(Schema.work, "an entry is no piece of work")
      }
      found.append((key.bytes.bigEndian64(at: 0), work))
      try storage { () throws(PageFileError) in _ = try cursor.next() }
    }
    return found
  }
}

extension Transaction {
  var steps: Steps { Steps(self) }
}

extension StoreView {
  var work: WorkReader { WorkReader(self) }
}
