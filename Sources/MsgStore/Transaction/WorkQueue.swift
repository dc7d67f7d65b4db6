import PageFile

/// The queue of work to be done in steps by later transactions.
struct WorkQueue: TransactionPart {
  let transaction: Transaction

  func add(_ work: WorkRecord) throws(StoreError) {
    let next = max(1, view.source[.nextWork])
    guard next < WorkRecord.maximumOrdinal else {
      throw .numbersExhausted(what: "piece of work")
    }
    view.source[.nextWork] = next + 1
    try write(work, at: next)
  }

  @inline(never)
  func write(_ work: WorkRecord, at ordinal: UInt64) throws(StoreError) {
    try transaction.put(work, at: WorkRecord.key(ordinal))
    memory.merges?.set(work.target, at: ordinal)
  }

  /// Removes work that is done.
  func remove(at ordinal: UInt64) throws(StoreError) {
    try transaction.remove(WorkRecord.key(ordinal), in: Schema.work)
    memory.merges?.set(nil, at: ordinal)
  }

  /// Returns the merges into a conversation, oldest first.
  ///
  /// All work is read once, and then remembered from writer to writer: of ten thousand
  /// conversations deleted in one write each asks for its merges.
  func merges(
    into target: UInt32
  ) throws(StoreError) -> [(ordinal: UInt64, work: WorkRecord)] {
    let known = if let merges = memory.merges { merges } else { try readMerges() }
    memory.merges = known
    return try known.ordinals(of: target).map { (ordinal) throws(StoreError) in
      guard let work: WorkRecord = try view.record(WorkRecord.key(ordinal)) else {
        throw view.corrupt(Schema.work, "missing entry")
      }
      return (ordinal, work)
    }
  }

  private func readMerges() throws(StoreError) -> Merges {
    var merges = Merges()
    guard try view.work.hasStoreWork else { return merges }
    for (ordinal, work) in try view.work.work() { merges.set(work.target, at: ordinal) }
    return merges
  }
}

/// The merges that are left: their ordinals, by the conversations that take the messages.
struct Merges {
  private var targets: [UInt64: UInt32] = [:]
  private var ordinals: [UInt32: Set<UInt64>] = [:]

  /// Returns the ordinals of the merges into a conversation, ascending.
  func ordinals(of target: UInt32) -> [UInt64] { Array(ordinals[target, default: []]).sorted() }

  /// Notes the target of the work at an ordinal; nil for other work, or none.
  mutating func set(_ target: UInt32?, at ordinal: UInt64) {
    if let old = targets[ordinal] {
      ordinals[old]?.remove(ordinal)
      if ordinals[old]?.isEmpty == true { ordinals[old] = nil }
    }
    targets[ordinal] = target
    if let target { ordinals[target, default: []].insert(ordinal) }
  }
}

extension Transaction {
  var workQueue: WorkQueue { WorkQueue(transaction: self) }
}
