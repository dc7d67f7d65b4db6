package import PageFile

/// Packs messages into segments.
///
/// It keeps its buffers, so that packing run after run allocates next to nothing.
package final class SegmentEncoder {
  private var writer = SegmentWriter()
  private var compressor: BlockCompressor

  /// The local member, for whom messages are unread; nil if it is not known.
  var localMember: UInt32? { writer.localMember }

  package init(_ dictionary: CompressionDictionary, localMember: UInt32? = nil) {
    compressor = BlockCompressor(dictionary)
    writer.localMember = localMember
  }

  /// The number of the dictionary, or 0 without one.
  package var dictionary: UInt32 { compressor.dictionary.version }

  /// Returns true if a message may lie in a segment: it is acknowledged and not too long.
  ///
  /// The bytes are those of a message in a cell of its own.
  package static func canHold(_ key: Bytes, _ value: Bytes) -> Bool {
    guard let (place, _) = key.place(at: KeyEncoding.numberByteCount), !place.isPending,
      let record = MessageRecord(value)
    else { return false }
    return canHold(record)
  }

  /// Returns true if the record of an acknowledged message may lie in a segment, or beside it.
  static func canHold(_ record: MessageRecord) -> Bool {
    !record.flags.contains(.sequence)
      && record.textByteCount + record.traitsBytes.count < Segment.maximumBlockByteCount / 4
  }

  /// Appends the segment of some messages of a run, for each of which `canHold` is true.
  ///
  /// Returns false and appends nothing if they do not fit into one segment or are not in the order
  /// of a thread.
  package func encode(
    _ run: borrowing MessageRun, _ range: Range<Int>, to value: inout ByteBuffer
  ) -> Bool {
    writer.encode(run, range, with: &compressor, to: &value)
  }

  /// Appends a segment with as many messages as fit the limit, and returns their number.
  ///
  /// Returns 1 if the message needs a cell of its own; then nothing is appended.
  package func encodeMost(
    of run: borrowing MessageRun, from start: Int, limit: Int, to value: inout ByteBuffer
  ) -> Int {
    writer.encodeMost(of: run, from: start, limit: limit, with: &compressor, to: &value)
  }
}
