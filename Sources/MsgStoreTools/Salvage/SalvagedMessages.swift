import MsgStore
import PageFile

/// The messages of a damaged store in the order of the thread, those in segments too.
final class SalvagedMessages {
  private let source: PageSalvage
  let cursor: SalvageCursor
  private var run = MessageRun()
  /// Which message of the run comes now; nil where the cell is no segment.
  private var index: Int?
  private var segmentReason: String?
  /// How many messages of the segment depend on what is lost of its dictionary.
  private var lostCount = 0
  private var dictionaries: [UInt32: Salvaged] = [:]

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

  /// What is lost of the segment whose first message this is; nil where nothing is.
  func takeLoss() -> String? {
    guard lostCount > 0, index != nil else { return nil }
    defer { lostCount = 0 }
    return "\(lostCount) of its messages depend on a part of its dictionary that is lost"
  }

  /// Goes to the next message, or first to the first one.
  ///
  /// False: there is none.
  func next() -> Bool {
    if let last = index, last + 1 < run.count {
      index = last + 1
      return true
    }
    (index, segmentReason, lostCount) = (nil, nil, 0)
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
    var dictionary = Salvaged(CompressionDictionary.none, nil)
    if case .lz4(let number) = header.coding, number > 0 {
      guard let found = self.dictionary(number) else {
        return segmentReason = "dictionary \(number) of its \(header.count) messages is lost"
      }
      dictionary = found
    }
    let position = key.dropFirst(KeyEncoding.numberByteCount)
    var segment = UnpackedSegment()
    guard segment.unpackPlaces(cursor.value, at: position),
      segment.unpackUnchecked(with: dictionary.first)
    else {
      return segmentReason = "it is no segment of messages"
    }
    var other = UnpackedSegment()
    if let second = dictionary.second,
      !other.unpackPlaces(cursor.value, at: position) || !other.unpackUnchecked(with: second)
    {
      return segmentReason = "it is no segment of messages"
    }
    let isWhole = dictionary.second == nil
    for index in 0..<segment.rows.count
    where segment.isText(index) && (isWhole || segment.isSame(as: other, index)) {
      run.append(segment, index, in: number)
    }
    lostCount = segment.rows.count - run.count
    if run.count > 0 {
      index = 0
    } else {
      segmentReason = "a part of the dictionary of its \(header.count) messages is lost"
    }
  }

  /// A dictionary; of one that is lost in part two, which differ where it is.
  ///
  /// What a segment gives with both of them alike does not depend on what is lost.
  private struct Salvaged {
    let first: CompressionDictionary
    let second: CompressionDictionary?

    init(_ first: CompressionDictionary, _ second: CompressionDictionary?) {
      self.first = first
      self.second = second
    }
  }

  private func dictionary(_ number: UInt32) -> Salvaged? {
    if let known = dictionaries[number] { return known }
    guard let first = collect(number, filler: 0x61), let second = collect(number, filler: 0x62)
    else { return nil }
    let isWhole =
      DictionaryPieces.checksum(of: first.bytes, number: number)
      == DictionaryPieces.checksum(of: second.bytes, number: number)
    let found = Salvaged(first, isWhole ? nil : second)
    dictionaries[number] = found
    return found
  }

  private func collect(_ number: UInt32, filler: UInt8) -> CompressionDictionary? {
    let source = source
    let found = DictionaryPieces.collect(number, filler: filler) { (key, value) in
      guard case .found = source.value(of: key, in: Schema.settings, to: &value) else {
        value.removeAll()
        return false
      }
      return true
    }
    guard let found else { return nil }
    return CompressionDictionary(found.bytes.bytes, version: number)
  }
}
