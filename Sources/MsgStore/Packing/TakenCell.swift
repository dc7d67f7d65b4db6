/// A cell whose messages are taken out to be packed again.
struct TakenCell {
  let key: [UInt8]
  let isSegment: Bool
  /// The keys of the messages that lie beside the segment.
  var besideKeys: [[UInt8]] = []
}
