import MsgStore
import MsgStoreTools
import PageFile

/// Reads lines of JSON, and restores a store from them.
///
///  1. Any bytes are records or an error that says where.
///  2. How the bytes arrive makes no difference.
///  3. What was read is written so that it reads the same again; and a lenient reader reads what a
///     strict one does.
///  4. A store that was restored is sound, and its export restored has the same export, but that what
///     waited to go out is held.
enum JSONLinesTarget {
  static func run(_ input: inout FuzzInput) throws(BrokenPromise) {
    let settings = input.byte()
    let pieceByteCount = Int(input.byte()) + 1
    let lines = input.rest()
    let strict = read(lines, isLenient: false)
    try promise(
      read(lines, isLenient: false, pieceByteCount) == strict, "pieces are read otherwise")
    if case .success(let records) = strict {
      try promiseRoundTrip(records)
      try promise(read(lines, isLenient: true) == strict, "a lenient reader reads otherwise")
    }
    try restore(lines, settings)
  }

  private static func read(
    _ lines: [UInt8], isLenient: Bool, _ pieceByteCount: Int = .max
  ) -> Result<[JSONRecord], StoreToolError> {
    var reader = reader(of: lines, isLenient: isLenient, pieceByteCount)
    var records: [JSONRecord] = []
    do {
      while let record = try reader.next() { records.append(record) }
      return .success(records)
    } catch let error as StoreToolError {
      return .failure(error)
    } catch {
      preconditionFailure("lines: an error of another kind (\(error))")
    }
  }

  private static func promiseRoundTrip(_ records: [JSONRecord]) throws(BrokenPromise) {
    var written: [UInt8] = []
    for record in records { JSONLineWriter.append(record, to: &written) }
    let again = read(written, isLenient: false)
    try promise(again == .success(records), "what was written reads otherwise")
  }

  static func reader(
    of lines: [UInt8], isLenient: Bool, _ pieceByteCount: Int = .max
  ) -> JSONRecordReader {
    var offset = 0
    return JSONRecordReader(isLenient: isLenient) { buffer, start in
      let count = min(pieceByteCount, lines.count - offset, buffer.count - start)
      for index in 0..<count { buffer[start + index] = lines[offset + index] }
      offset += count
      return count
    }
  }

  // MARK: Restoring

  private static func restore(_ lines: [UInt8], _ settings: UInt8) throws(BrokenPromise) {
    let restorer = Restorer(
      isLenient: settings & 1 == 1, numbersFromOrder: settings & 2 == 2,
      localMember: settings & 4 == 4 ? "me" : nil)
    let directory = MemoryDirectory()
    do {
      try restorer.restore(reader(of: lines, isLenient: settings & 1 == 1)) {
        options throws(StoreError) in
        try MessageStore.inMemory(directory, options)
      }
    } catch is StoreToolError {
      return
    } catch let error as StoreError {
      if case .storage = error { throw BrokenPromise("a restore fails: \(error)") }
      return
    } catch {
      throw BrokenPromise("a restore throws something else: \(error)")
    }
    try promiseSoundStore(directory)
  }

  /// Checks that a store in memory, which nobody has open, is sound and survives export and restore.
  ///
  /// - Parameter hasForeignTimes: True if its times may be others than a store records.
  static func promiseSoundStore(
    _ directory: MemoryDirectory, hasForeignTimes: Bool = false
  ) throws(BrokenPromise) {
    let exported: [UInt8]
    do {
      let store = try MessageStore.inMemory(directory)
      let findings = try store.check()
      try promise(findings.isEmpty, "a check finds: \(findings.prefix(3))")
      exported = try export(store)
      try store.close()
    } catch {
      throw BrokenPromise("a sound store cannot be exported: \(error)")
    }
    guard let exportedAgain = try exportOfRestored(exported) else {
      return try promise(hasForeignTimes, "an export has a time that a restore refuses")
    }
    try promise(
      settled(exported) == settled(exportedAgain), "a restored store has another export")
    try promise(
      try exportOfRestored(exportedAgain) == exportedAgain, "what is held does not stay as it is")
  }

  /// Returns the export of a store restored from one; nil if it has a time that no store records.
  private static func exportOfRestored(_ exported: [UInt8]) throws(BrokenPromise) -> [UInt8]? {
    let twin = MemoryDirectory()
    do {
      let restorer = Restorer(isLenient: false, numbersFromOrder: false, localMember: nil)
      try restorer.restore(reader(of: exported, isLenient: false)) { options throws(StoreError) in
        try MessageStore.inMemory(twin, options)
      }
      let store = try MessageStore.inMemory(twin)
      let exportedAgain = try export(store)
      try store.close()
      return exportedAgain
    } catch StoreToolError.malformedLine(_, _, let reason)
      where reason.contains("a time is implausible")
    {
      return nil
    } catch {
      throw BrokenPromise("an export cannot be restored: \(error)")
    }
  }

  /// What a restore leaves as it is: what waits to go out it holds, and enters where nothing was.
  private static func settled(_ exported: [UInt8]) -> [JSONRecord] {
    guard case .success(let records) = read(exported, isLenient: false) else { return [] }
    return records.compactMap { record in
      switch record {
      case .outbox: return nil
      case .message(var message) where message.serverTimestamp == nil:
        if let status = message.status, !status.isServerKnowledge { message.status = nil }
        message.retryAt = nil
        return .message(message)
      default: return record
      }
    }
  }

  static func export(_ store: MessageStore) throws -> [UInt8] {
    var bytes: [UInt8] = []
    try StoreExport.records(of: store) { JSONLineWriter.append($0, to: &bytes) }
    return bytes
  }
}

extension MessageStore {
  /// A store whose clock stands still.
  static func inMemory(
    _ directory: MemoryDirectory, _ options: StoreOptions = StoreOptions(),
    access: StoreOptions.Access = .readWrite
  ) throws(StoreError) -> MessageStore {
    var options = options
    options.access = access
    options.clock = { Timestamp(microseconds: 1_000_000) }
    return try MessageStore(in: directory, name: "store", options: options)
  }
}
