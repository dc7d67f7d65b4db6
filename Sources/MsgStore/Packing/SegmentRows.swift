import PageFile

/// One message of an unpacked segment: its numbers, and the offsets of its bytes.
///
/// A row fits a cache line. The columns fill it in field by field.
struct SegmentRow {
  var time: Int64
  var rank: Int64 = 0
  var localDelta: Int64 = 0
  var markOrdinal: UInt64 = 0
  /// The offset of a name that is stored as text.
  var nameOffset: Int32 = 0
  var textOffset: Int32 = 0
  var textByteCount: Int32 = 0
  /// The offset of the rare fields: the name of the answered message, then the traits.
  var restOffset: Int32 = 0
  var traitsByteCount: Int32 = 0
  var sender: UInt32 = 0
  var nameByteCount: UInt8 = 0
  var replyByteCount: UInt8 = 0
  /// Not made by `[]`, which is generic code where files are compiled one by one.
  var flags = MessageRecord.Flags(rawValue: 0)
  var status = MessageStatus.sent
  var hasRank = false
  /// True if the record lies beside the segment.
  var isBeside = false

  init(time: Int64) { self.time = time }

  var place: Place { .acknowledged(time, sequence: hasRank ? rank : nil) }

  /// Returns the record of the message, whose text and rare fields lie in the given bytes.
  func record(in bytes: Bytes) -> MessageRecord {
    var record = MessageRecord(
      flags: flags, status: status, sender: sender, textByteCount: Int(textByteCount),
      payload: bytes.slice(Int(textOffset), Int(textByteCount)))
    record.localDelta = localDelta
    if flags.contains(.markOrdinal) { record.markOrdinal = markOrdinal }
    record.replyBytes = bytes.slice(Int(restOffset), Int(replyByteCount))
    record.traitsBytes = bytes.slice(
      Int(restOffset) + Int(replyByteCount), Int(traitsByteCount))
    return record
  }
}

/// The rows of a segment, in memory of their own.
///
/// A row consists of numbers alone. An array would check for unique ownership on each access.
@safe
package struct SegmentRows: ~Copyable {
  private var base: UnsafeMutablePointer<SegmentRow>?
  package private(set) var count = 0
  private var capacity = 0

  deinit { if let base = unsafe base { unsafe Memory.free(base) } }

  /// Removes all rows and makes room for a number of them.
  mutating func reset(_ maximumCount: Int) {
    count = 0
    guard maximumCount > capacity else { return }
    if let base = unsafe base { unsafe Memory.free(base) }
    unsafe base = Memory.allocate(maximumCount * MemoryLayout<SegmentRow>.stride)
      .bindMemory(to: SegmentRow.self, capacity: maximumCount)
    capacity = maximumCount
  }

  mutating func removeAll() { count = 0 }

  /// Appends a row.
  ///
  /// `reset` must have made room for it.
  @inline(__always)
  mutating func append(_ row: SegmentRow) {
    guard let base = unsafe base, count < capacity else {
      preconditionFailure("SegmentRows: no room for another row")
    }
    unsafe (base + count).initialize(to: row)
    count &+= 1
  }

  @inline(__always)
  subscript(index: Int) -> SegmentRow {
    _read {
      precondition(index >= 0 && index < count, "SegmentRows: index out of range")
      // Unsafe: if there are rows, there is memory.
      yield unsafe base.unsafelyUnwrapped[index]
    }
    _modify {
      precondition(index >= 0 && index < count, "SegmentRows: index out of range")
      yield unsafe &base.unsafelyUnwrapped[index]
    }
  }
}
