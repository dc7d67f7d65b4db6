import PageFile

/// The queue of work to be done in steps by later transactions.
struct WorkQueue: TransactionPart {
  let transaction: Transaction

  init(_ transaction: Transaction) { self.transaction = transaction }

  func add(_ work: WorkRecord) throws(StoreError) {
    let next = try view.source.value(of: .nextWork) ?? 1
    guard next < WorkRecord.maximumOrdinal else { throw .numbersExhausted(what: "piece of work") }
    try view.source.set(.nextWork, to: next + 1)
    try write(work, at: next)
  }

  func write(_ work: WorkRecord, at ordinal: UInt64) throws(StoreError) {
    let key = WorkRecord.key(ordinal)
    var value = ByteBuffer()
    work.appendChecked(to: &value)
    try transaction.insert(key.bytes, value.bytes, in: Schema.work)
  }
}

extension Transaction {
  var workQueue: WorkQueue { WorkQueue(self) }
}
