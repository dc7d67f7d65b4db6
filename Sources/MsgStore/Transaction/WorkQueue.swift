import PageFile

/// The queue of work to be done in steps by later transactions.
struct WorkQueue: TransactionPart {
  let transaction: Transaction

  func add(_ work: WorkRecord) throws(StoreError) {
    let next = try view.source.value(of: .nextWork) ?? 1
    guard next < WorkRecord.maximumOrdinal else { throw .numbersExhausted(what: "piece of work") }
    try view.source.set(.nextWork, to: next + 1)
    try write(work, at: next)
  }

  func write(_ work: WorkRecord, at ordinal: UInt64) throws(StoreError) {
    try transaction.put(work, at: WorkRecord.key(ordinal))
  }
}

extension Transaction {
  var workQueue: WorkQueue { WorkQueue(transaction: self) }
}
