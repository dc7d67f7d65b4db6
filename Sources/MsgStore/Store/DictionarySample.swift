package import PageFile
import TextDictionary

/// Texts from all over a store: most of them to make a dictionary from, the rest to see what it gains.
///
/// A sample of 1.5 MB makes a dictionary nearly as good as one of any size (docs/decisions.md), and
/// takes 10 MB while it is being made.
package struct DictionarySample: ~Copyable {
  static let byteCountMax = 3 << 19
  private static let typicalTextByteCount = 64
  private static let runCount = 64
  /// Of so many runs one is kept to see what a dictionary gains.
  private static let testedEvery = 8
  private static let testByteCountMax = 128 << 10

  private var builder = DictionaryBuilder(sampleByteCountMax: Self.byteCountMax)
  private var tests: [ByteBufferBox] = []
  private var testByteCount = 0
  private var messageIndex = 0
  private let stride: Int
  private var sampledByteCount = 0

  /// The texts of one run.
  private final class ByteBufferBox {
    var texts = ByteBuffer(capacity: 4096)
  }

  /// More messages than any store has; the counts of a damaged one may come to anything.
  private static let messageCountMax = Int(UInt32.max)

  /// - Parameter messageCount: How many messages the store says it has.
  package init(messageCount: Int) {
    let wanted = Self.byteCountMax / Self.typicalTextByteCount
    let count = min(max(messageCount, 0), Self.messageCountMax)
    stride = max(1, (count + wanted - 1) / wanted)
  }

  /// About how many bytes all texts have.
  private var textByteCount: Int { sampledByteCount * stride }

  /// Whether the next messages belong to the sample; those that do not are passed over.
  package mutating func wants(_ count: Int) -> Bool {
    let run = messageIndex / Self.runCount
    messageIndex += count
    return run.isMultiple(of: stride)
  }

  /// Adds the texts of neighbouring messages.
  package mutating func add(_ run: borrowing MessageRun) {
    let number = messageIndex / Self.runCount / stride
    let isTest =
      number % Self.testedEvery == Self.testedEvery - 1 && testByteCount < Self.testByteCountMax
    let box = ByteBufferBox()
    var text = ByteBuffer(capacity: 256)
    for index in 0..<run.count {
      text.removeAll()
      guard let record = MessageRecord(run.record(index)), let traits = record.traits(),
        !traits.isWithdrawn,
        let (place, _) = run.key(index).place(at: KeyEncoding.numberByteCount),
        record.textByteCount <= Segment.blockByteCountMax / 4, record.appendText(to: &text)
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

  /// A dictionary, if the store gets smaller by it than with the one that it has.
  ///
  /// - Parameter byteCountMin: Where a copy takes a leaf at least, no leaf has a piece of both.
  package consuming func makeDictionary(
    insteadOf old: CompressionDictionary, number: UInt32, byteCountMin: Int
  ) -> ByteBuffer? {
    let textByteCount = textByteCount
    let (tests, testByteCount) = (tests, testByteCount)
    // Both copies of it are to be small beside the texts.
    let limit = min(CompressionDictionary.byteCountMax, textByteCount / 24)
    guard testByteCount > 0, limit >= byteCountMin,
      let bytes = builder.finish(byteCountMax: limit), bytes.count >= byteCountMin,
      let new = CompressionDictionary(bytes.bytes, version: number)
    else { return nil }
    let (before, after) = (Self.byteCount(tests, old), Self.byteCount(tests, new))
    let gain = (before - after) * (textByteCount / testByteCount)
    guard gain > 4 * bytes.count, after * 100 < before * 97 else { return nil }
    return bytes
  }

  /// What the tests take with a dictionary.
  private static func byteCount(
    _ tests: [ByteBufferBox], _ dictionary: CompressionDictionary
  ) -> Int {
    var compressor = BlockCompressor(dictionary)
    var byteCount = 0
    var block = ByteBuffer(capacity: 4096)
    for test in tests {
      block.removeAll()
      let isSmaller = compressor.compress(test.texts.bytes, effort: .high, to: &block)
      byteCount += isSmaller ? block.count : test.texts.count
    }
    return byteCount
  }
}

extension DictionaryTable {
  /// Whether so much was packed without a dictionary that one may pay.
  ///
  /// Asks once, and when as much again was packed: each attempt reads the whole store, and there are
  /// stores whose texts have nothing in common.
  func takeDictionaryDemand() -> Bool {
    guard memory.plainByteCount >= memory.plainByteCountMax else { return false }
    memory.plainByteCountMax *= 2
    return true
  }
}

extension StoreCore {
  /// Has the store's first dictionary made in the background, unless memory is short: it takes about
  /// 10 MB.
  ///
  /// Nothing waits for it but `close`, and what was packed before stays as it is until the next
  /// compaction.
  func scheduleDictionary() {
    guard makesDictionaries else { return }
    let isFirst = isDictionaryScheduled.withLock { isScheduled in
      defer { isScheduled = true }
      return !isScheduled
    }
    guard isFirst else { return }
    readers.enqueue { [self] in
      // Without one everything works as well, and it is asked again when twice as much was packed.
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

  /// The newest dictionary, or none where it cannot be read.
  func newestDictionary() -> CompressionDictionary {
    (try? readNewestDictionary()) ?? CompressionDictionary.none
  }

  /// Cells that are read in one transaction.
  private static let sampledCellCount = 10_000

  /// Makes a dictionary out of what the store's people say, if that pays.
  ///
  /// Reads every leaf of messages, some at a time, and counts for up to a second; nobody waits for it
  /// meanwhile. Then it is stored by a commit of at most 130 KB.
  ///
  /// Returns whether there is a new one.
  func makeDictionary() throws -> Bool {
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
            from: key, cellCountMax: Self.sampledCellCount, into: &sample)
        }
      }
    }
    let old = try readNewestDictionary()
    let number = old.version + 1
    guard old.version < .max,
      let bytes = sample.makeDictionary(
        insteadOf: old, number: number, byteCountMin: database.pageByteCount)
    else { return false }
    return try write(.relaxed) { writer in
      // Somebody else may have been quicker.
      try writer.transaction.perform(
        try writer.transaction.dictionaryTable.add(
          bytes.bytes, number: number, ifNewestIs: old.version))
    }
  }
}

extension DictionaryReader {
  /// Adds what a sample wants of the cells from a key on; returns the key to go on from.
  func sample(
    from start: [UInt8], cellCountMax: Int, into sample: inout DictionarySample
  ) throws(StoreError) -> [UInt8]? {
    var cursor = try view.cursor(Schema.messages, from: start)
    var key = ByteBuffer()
    var value = ByteBuffer()
    var run = MessageRun()
    var cellCount = 0
    while cursor.isAtCell {
      key.removeAll()
      cursor.appendKey(to: &key)
      if cellCount == cellCountMax { return key.bytes.array() }
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

  /// How many messages all conversations have.
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
