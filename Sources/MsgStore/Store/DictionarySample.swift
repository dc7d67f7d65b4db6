package import PageFile
import TextDictionary

/// A sample of texts from the whole store: most train a dictionary, the rest measure its gain.
///
/// A sample of 1.5 MB makes a dictionary nearly as good as one of any size (docs/decisions.md). It
/// takes 10 MB while the dictionary is being made.
package struct DictionarySample: ~Copyable {
  static let maximumByteCount = 3 << 19
  private static let typicalTextByteCount = 64
  private static let runCount = 64
  /// One run in this many is kept aside to measure the gain of a dictionary.
  private static let testedEvery = 8
  private static let maximumTestByteCount = 128 << 10

  private var builder = DictionaryBuilder(maximumSampleByteCount: Self.maximumByteCount)
  private var tests: [ByteBufferBox] = []
  private var testByteCount = 0
  private var messageIndex = 0
  private let stride: Int
  private var sampledByteCount = 0

  /// A box for the texts of one run.
  private final class ByteBufferBox {
    var texts = ByteBuffer(capacity: 4096)
  }

  /// A bound above the message count of any store; the counts of a damaged store may add up to
  /// anything.
  private static let maximumMessageCount = Int(UInt32.max)

  /// Creates an empty sample.
  ///
  /// - Parameter messageCount: The number of messages according to the store's summaries.
  package init(messageCount: Int) {
    let wanted = Self.maximumByteCount / Self.typicalTextByteCount
    let count = min(max(messageCount, 0), Self.maximumMessageCount)
    stride = max(1, (count + wanted - 1) / wanted)
  }

  /// The estimated size of all texts in the store, in bytes.
  private var textByteCount: Int { sampledByteCount * stride }

  /// Returns true if the next `count` messages belong to the sample; the caller skips others.
  package mutating func wants(_ count: Int) -> Bool {
    let run = messageIndex / Self.runCount
    messageIndex += count
    return run.isMultiple(of: stride)
  }

  /// Adds the texts of a run of neighbouring messages.
  package mutating func add(_ run: borrowing MessageRun) {
    let number = messageIndex / Self.runCount / stride
    let isTest =
      number % Self.testedEvery == Self.testedEvery - 1 && testByteCount < Self.maximumTestByteCount
    let box = ByteBufferBox()
    var text = ByteBuffer(capacity: 256)
    for index in 0..<run.count {
      text.removeAll()
      guard let record = MessageRecord(run.record(index)), let traits = record.traits(),
        !traits.isRetracted,
        let (place, _) = run.key(index).place(at: KeyEncoding.numberByteCount),
        record.textByteCount <= Segment.maximumBlockByteCount / 4, record.appendText(to: &text)
      else { continue }
      sampledByteCount += text.count
      if isTest {
        box.texts.append(text.bytes)
      } else {
        let day = Int32(truncatingIfNeeded: place.time / Self.microsecondsPerDay)
        builder.add(text.bytes, sender: record.sender, day: day)
      }
    }
    if isTest, box.texts.count > 0 {
      testByteCount += box.texts.count
      tests.append(box)
    }
  }

  private static let microsecondsPerDay: Int64 = 86_400_000_000

  /// Returns a dictionary if it makes the store smaller than the old one does, else nil.
  ///
  /// - Parameters:
  ///   - byteCountMin: The smallest dictionary to make, in bytes. If a copy fills at least a leaf,
  ///     no leaf holds the same piece of both copies.
  ///   - minimumGain: The hundredths that texts have to become smaller by.
  package consuming func makeDictionary(
    insteadOf old: CompressionDictionary, number: UInt32, byteCountMin: Int,
    minimumGain: Int = 3
  ) -> ByteBuffer? {
    let textByteCount = textByteCount
    let (tests, testByteCount) = (tests, testByteCount)
    // Both copies must be small compared with the texts.
    let limit = min(CompressionDictionary.maximumByteCount, textByteCount / 24)
    guard testByteCount > 0, limit >= byteCountMin,
      let bytes = builder.finish(maximumByteCount: limit), bytes.count >= byteCountMin,
      let new = CompressionDictionary(bytes.bytes, version: number)
    else { return nil }
    let (before, after) = (Self.byteCount(tests, old), Self.byteCount(tests, new))
    let gain = (before - after) * (textByteCount / testByteCount)
    guard gain > 4 * bytes.count, after * 100 < before * (100 - minimumGain) else { return nil }
    return bytes
  }

  /// Returns the size of the test runs when compressed with a dictionary, in bytes.
  private static func byteCount(
    _ tests: [ByteBufferBox], _ dictionary: CompressionDictionary
  ) -> Int {
    var compressor = BlockCompressor(dictionary)
    var byteCount = 0
    var block = ByteBuffer(capacity: 4096)
    for test in tests {
      block.removeAll()
      let isSmaller = compressor.compress(test.texts.bytes, to: &block)
      byteCount += isSmaller ? block.count : test.texts.count
    }
    return byteCount
  }
}

extension DictionaryTable {
  /// The least number of bytes packed for which a dictionary is requested.
  private static let minimumDemandByteCount = 256 << 10
  /// The size of a data file from which on a better dictionary waits for three times as much.
  private static let largeFileByteCount = 8 << 20

  /// Returns true if so much was packed that a new dictionary may pay off: as much as the store had
  /// before, and three times as much if it is large and has a dictionary.
  ///
  /// So a store that is filled gets its first dictionary early, when it still is small, and better
  /// ones as it grows, three or four in all. Each attempt reads the whole store, and the texts of
  /// some stores have nothing in common: twice as much must come for each further attempt that
  /// makes none.
  ///
  /// - Parameter byteCount: Returns the size of the data file; called once for each request.
  func takeDictionaryDemand(_ byteCount: () -> Int) -> Bool {
    guard memory.packedByteCount >= Self.minimumDemandByteCount else { return false }
    let isFirst = transaction.packer.segmentEncoder().dictionary == 0
    let maximum =
      memory.maximumPackedByteCount ?? demandByteCount(isFirst: isFirst, of: byteCount())
    memory.maximumPackedByteCount = maximum
    guard memory.packedByteCount >= maximum else { return false }
    memory.demandedByteCount = maximum
    memory.packedByteCount = 0
    memory.maximumPackedByteCount = nil
    return true
  }

  /// Returns the number of bytes to be packed until the next request.
  private func demandByteCount(isFirst: Bool, of fileByteCount: Int) -> Int {
    if isFirst {
      return max(Self.minimumDemandByteCount, fileByteCount, 2 * memory.demandedByteCount)
    }
    let isLarge = fileByteCount >= Self.largeFileByteCount
    return max(Self.minimumDemandByteCount, fileByteCount * (isLarge ? 3 : 1))
  }
}

extension StoreCore {
  /// Schedules the making of a dictionary in the background.
  ///
  /// It takes about 10 MB, so it is not scheduled when memory is short. Only `close` waits for it.
  /// Messages packed earlier stay as they are until the next compaction.
  func scheduleDictionary() {
    guard makesDictionaries else { return }
    let isFirst = isDictionaryScheduled.withLock { isScheduled in
      defer { isScheduled = true }
      return !isScheduled
    }
    guard isFirst else { return }
    readers.enqueue { [self] in
      // The store works without a dictionary. The next attempt comes when more was packed.
      _ = try? makeDictionary()
      isDictionaryScheduled.withLock { $0 = false }
    }
  }

  private func readNewestDictionary() throws -> CompressionDictionary {
    try read { snapshot in
      try snapshot.within { (view) throws(StoreError) in
        try view.dictionaryTable.dictionary(try view.dictionaryTable.newestDictionary())
      }
    }
  }

  /// Returns the newest dictionary, or `CompressionDictionary.none` if it cannot be read.
  func newestDictionary() -> CompressionDictionary {
    (try? readNewestDictionary()) ?? CompressionDictionary.none
  }

  /// The number of cells read in one transaction.
  private static let sampledCellCount = 10_000

  /// Makes a dictionary from the texts of the store if that pays off.
  ///
  /// Reads every leaf of messages, a part at a time, and counts strings for up to a second; no
  /// writer waits meanwhile. The dictionary is then stored in one commit of at most 130 KB.
  ///
  /// - Parameter minimumGain: The hundredths that texts have to become smaller by.
  /// - Returns: True if a new dictionary was stored.
  func makeDictionary(minimumGain: Int = 3) throws -> Bool {
    var sample = DictionarySample(
      messageCount: try read { snapshot in
        try snapshot.within { (view) throws(StoreError) in try view.dictionaryTable.messageCount() }
      })
    var next: [UInt8]? = []
    while let key = next {
      if isEnding { return false }
      next = try read { snapshot in
        try snapshot.within { (view) throws(StoreError) in
          try view.dictionaryTable.sample(
            from: key, maximumCellCount: Self.sampledCellCount, into: &sample)
        }
      }
    }
    let old = try readNewestDictionary()
    let number = old.version + 1
    guard old.version < .max,
      let bytes = sample.makeDictionary(
        insteadOf: old, number: number, byteCountMin: database.pageByteCount,
        minimumGain: minimumGain)
    else { return false }
    return try write(.relaxed) { writer in
      // Another writer may have stored one first.
      try writer.transaction.perform(
        try writer.transaction.dictionaryTable.add(
          bytes.bytes, number: number, ifNewestIs: old.version))
    }
  }
}

extension DictionaryReader {
  /// Adds the sampled messages of up to `maximumCellCount` cells, beginning at a key.
  ///
  /// - Returns: The key to continue from; nil at the end.
  func sample(
    from start: [UInt8], maximumCellCount: Int, into sample: inout DictionarySample
  ) throws(StoreError) -> [UInt8]? {
    var cursor = try view.cursor(Schema.messages, from: start)
    var key = ByteBuffer()
    var value = ByteBuffer()
    var run = MessageRun()
    var cellCount = 0
    while cursor.isAtCell {
      key.removeAll()
      cursor.appendKey(to: &key)
      if cellCount == maximumCellCount { return key.bytes.array() }
      cellCount += 1
      let count = cursor.inlineValue.flatMap { SegmentHeader($0)?.count } ?? 1
      if sample.wants(count) {
        value.removeAll()
        run.removeAll()
        try view.append(cursor, to: &value)
        if count > 1 {
          try view.messages.unpack(value.bytes, at: key.bytes, to: &run)
        } else {
          run.append(key.bytes, value.bytes)
        }
        sample.add(run)
      }
      try storage { () throws(PageFileError) in _ = try cursor.next() }
    }
    return nil
  }

  /// Returns the message count of all conversations, according to their summaries.
  func messageCount() throws(StoreError) -> Int {
    var cursor = Cursor(view.source, Schema.conversations)
    var count = 0
    var number: UInt32 = 0
    while let next = try view.conversations.nextConversation(after: number, &cursor) {
      number = next
      let (sum, isTooMany) = count.addingReportingOverflow(
        try view.conversations.summary(next, &cursor).messageCount)
      count = isTooMany ? .max : sum
    }
    return count
  }
}
