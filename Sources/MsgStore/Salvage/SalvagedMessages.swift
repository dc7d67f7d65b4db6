import PageFile

/// The messages of a damaged store in the order of the thread, those in segments too.
final class SalvagedMessages {
  private let source: PageSalvage
  let cursor: SalvageCursor
  private var run = MessageRun()
  /// Which message of the run comes now; nil where the cell is no segment.
  private var index: Int?
  private var segmentReason: String?
  private var dictionaries: [UInt32: CompressionDictionary] = [:]

  init(_ source: PageSalvage) {
    self.source = source
    cursor = source.cursor(Schema.messages)
  }

  /// The key that the message would have alone; of a segment that is lost its own.
  ///
  /// Valid until the next step, as the record.
  var key: Bytes { index.map { run.key($0) } ?? cursor.key }
  /// The record that the message would have alone, empty where it is lost.
  var record: Bytes { index.map { run.record($0) } ?? cursor.value }
  /// What keeps the record, or the segment, from being read.
  var lostReason: String? { segmentReason ?? cursor.lostReason }

  /// Goes to the next message, or first to the first one.
  ///
  /// False: there is none.
  func next() -> Bool {
    if let last = index, last + 1 < run.count {
      index = last + 1
      return true
    }
    (index, segmentReason) = (nil, nil)
    guard cursor.next() else { return false }
    if Segment.isSegment(cursor.value) { unpack() }
    return true
  }

  private func unpack() {
    run.removeAll()
    let key = cursor.key
    guard let header = SegmentHeader(cursor.value), let number = key.bigEndianNumber(at: 0) else {
      return segmentReason = "it is no segment of messages"
    }
    var dictionary = CompressionDictionary.none
    if case .lz4(let number) = header.coding, number > 0 {
      guard let found = self.dictionary(number) else {
        return segmentReason = "dictionary \(number) of its \(header.count) messages is lost"
      }
      dictionary = found
    }
    var segment = UnpackedSegment()
    let position = key.dropFirst(KeyEncoding.numberByteCount)
    guard segment.unpack(cursor.value, at: position, with: dictionary) else {
      return segmentReason = "it is no segment of messages"
    }
    segment.append(to: &run, in: number)
    index = 0
  }

  private func dictionary(_ number: UInt32) -> CompressionDictionary? {
    if let known = dictionaries[number] { return known }
    let source = source
    let found = DictionaryKey.assemble(number) { (key, value) in
      let start = value.count
      guard case .found = source.value(of: key, in: Schema.settings, to: &value) else {
        value.truncate(to: start)
        return false
      }
      return true
    }
    dictionaries[number] = found
    return found
  }
}
