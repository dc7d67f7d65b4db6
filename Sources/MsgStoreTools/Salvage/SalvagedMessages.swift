import MsgStore
import PageFile
import PageFileSalvage

/// The messages of a damaged store in the order of the thread, including those in segments.
///
/// A message that lies beside its segment is the one beside it. If its segment is lost, it comes
/// alone. Whether a record is beside a segment is decided by their keys, not by the segment's tag:
/// the page found may be an older version of it.
final class SalvagedMessages {
  private let source: PageSalvage
  /// The cell that the current message was read from.
  private(set) var cursor: SalvageCursor
  /// The tree of the cursor.
  var tree: TreeNumber { cursor === beside ? Schema.beside : Schema.messages }
  private let cells: SalvageCursor
  private let beside: SalvageCursor
  /// True if `cells` is at a cell that has not been handed out.
  private var hasCell = false
  /// True if `beside` is at a record that has not been handed out.
  private var hasBeside = false
  private var run = MessageRun()
  /// The index in the run of the current message; nil if the cell is not a segment.
  private var index: Int?
  private var segmentReason: String?
  /// True if the cell of `cursor` has been handed out.
  private var isHandedOut = false
  /// The number of the segment's messages that depend on the lost part of its dictionary.
  private var lostCount = 0
  /// The number of the segment's messages that are older than their last change, which is lost.
  private var staleCount = 0
  /// The indices in the run of the messages of a marked segment that are as they were packed.
  private var setBack: Set<Int> = []
  private var dictionaries: [UInt32: Salvaged] = [:]

  init(_ source: PageSalvage) {
    self.source = source
    cells = source.cursor(Schema.messages)
    beside = source.cursor(Schema.beside)
    cursor = cells
    hasCell = cells.next()
    hasBeside = beside.next()
  }

  /// The key that the message would have in a cell of its own; for a lost segment, the segment's
  /// key.
  ///
  /// Valid until the next step, like the record.
  var key: Bytes { index.map { run.key($0) } ?? cursor.key }
  /// The record that the message would have in a cell of its own; empty if it is lost.
  var record: Bytes { index.map { run.record($0) } ?? cursor.value }
  /// The reason why the record, or the segment, cannot be read.
  var lostReason: String? { segmentReason ?? cursor.lostReason }

  /// True if a newer record of the message may be lost: beside its segment, or in a newer leaf.
  var isMaybeSetBack: Bool { index.map { setBack.contains($0) } ?? !cursor.isCertain }

  /// The number of leaves that lie before the message.
  var passedLeafCount: Int { cells.passedLeafCount + beside.passedLeafCount }

  /// Counts the leaves of both trees as finished.
  func finish(in leaves: SalvagedLeaves) {
    leaves.finish(cells)
    leaves.finish(beside)
  }

  /// Returns the loss in the segment that begins with this message, or nil for an intact segment.
  func takeLoss() -> String? {
    guard lostCount + staleCount > 0, index != nil else { return nil }
    defer { (lostCount, staleCount) = (0, 0) }
    return lostCount > 0
      ? "\(lostCount) of its messages depend on a lost part of its dictionary"
      : "the last changes of \(staleCount) or more of its messages are lost"
  }

  /// Moves to the next message, at first to the first one; returns false at the end.
  func next() -> Bool {
    if let last = index, last + 1 < run.count {
      index = last + 1
      return true
    }
    (index, segmentReason, lostCount, staleCount) = (nil, nil, 0, 0)
    if isHandedOut {
      if cursor === cells { hasCell = cells.next() } else { hasBeside = beside.next() }
    }
    isHandedOut = true
    if hasBeside, !hasCell || beside.key.compare(to: cells.key) < 0 {
      cursor = beside
      return true
    }
    cursor = cells
    guard hasCell else { return false }
    if Segment.isSegment(cells.value) {
      unpack()
    } else if hasBeside, beside.key.compare(to: cells.key) == 0 {
      // The message has left its segment since.
      hasBeside = beside.next()
    }
    return true
  }

  private func unpack() {
    run.removeAll()
    setBack.removeAll(keepingCapacity: true)
    let (key, value) = (cells.key, cells.value)
    guard let header = SegmentHeader(value), let number = key.bigEndianNumber(at: 0) else {
      return segmentReason = "malformed segment"
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
    guard segment.unpackPlaces(value, at: position),
      segment.unpackUnchecked(with: dictionary.first)
    else {
      return segmentReason = "malformed segment"
    }
    var other = UnpackedSegment()
    if let second = dictionary.second,
      !other.unpackPlaces(value, at: position) || !other.unpackUnchecked(with: second)
    {
      return segmentReason = "malformed segment"
    }
    let isWhole = dictionary.second == nil
    let isKept = (0..<segment.rows.count).map {
      segment.isText($0) && (isWhole || segment.isSame(as: other, $0))
    }
    takeBeside(to: &segment, in: number, isMarked: header.hasBeside)
    for index in 0..<segment.rows.count where isKept[index] || segment.isBeside(index) {
      if header.hasBeside || !cells.isCertain, !segment.isBeside(index) {
        setBack.insert(run.count)
      }
      run.append(segment, index, in: number)
    }
    lostCount = segment.rows.count - run.count
    if run.count > 0 {
      index = 0
    } else {
      segmentReason = "a part of the dictionary of its \(header.count) messages is lost"
    }
  }

  /// Replaces the rows of a segment by the records that lie beside it.
  ///
  /// A segment without the mark may be younger than the records found: then these are left out.
  private func takeBeside(
    to segment: inout UnpackedSegment, in number: UInt32, isMarked: Bool
  ) {
    var count = 0
    let first = segment.key(0, in: number)
    let last = segment.key(segment.rows.count - 1, in: number)
    while hasBeside, beside.key.compare(to: first.bytes) >= 0,
      beside.key.compare(to: last.bytes) <= 0
    {
      let found = segment.search(beside.key.dropFirst(KeyEncoding.numberByteCount))
      let isNewer =
        isMarked || beside.isCertain || !cells.isCertain && beside.lsn > cells.lsn
      if found.isEqual, isNewer, !isBroughtBack(segment.record(found.index)) {
        count += 1
        let isReplaced =
          beside.lostReason == nil && segment.replace(found.index, with: beside.value)
        if !isReplaced { staleCount += 1 }
      }
      hasBeside = beside.next()
    }
    if isMarked, count == 0 { staleCount = 1 }
  }

  /// Returns true if the record beside would undo a retraction, which is final.
  private func isBroughtBack(_ packed: MessageRecord) -> Bool {
    guard packed.marks.contains(.retracted) else { return false }
    return MessageRecord(beside.value)?.marks.contains(.retracted) != true
  }

  /// A dictionary, with a second variant if part of it is lost; the variants differ in the lost
  /// part.
  ///
  /// Text that unpacks the same with both does not depend on the lost part.
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
