package import PageFile

/// Packs messages into segments.
///
/// It keeps its buffers, so that packing run after run allocates next to nothing.
package final class SegmentEncoder {
  private var writer = SegmentWriter()
  private var compressor: BlockCompressor
  private let effort: BlockCompressor.Effort
  /// The bytes that 256 bytes of weight took in the last segment, an estimate for the next one.
  var sizeOf256 = 160

  package init(_ dictionary: CompressionDictionary, _ effort: BlockCompressor.Effort) {
    compressor = BlockCompressor(dictionary)
    self.effort = effort
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
    writer.encode(run, range, with: &compressor, effort, to: &value)
  }
}
