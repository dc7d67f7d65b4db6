import MsgStore
import PageFile

/// Rule 14: the times at which messages were answered.
extension StoreCheck {
  /// The replies of one conversation, as a number and a sum that hardly any other replies have.
  ///
  /// So messages and entries, which are in different orders, are compared without keeping them.
  struct ReplySum: Equatable {
    private(set) var count: UInt64 = 0
    private var sum: UInt64 = 0

    mutating func add(_ number: UInt64, _ digest: UInt32, _ moment: ThreadMoment) {
      count &+= number
      let mixed = (moment.checksum ^ UInt64(digest)) &* 0x9E37_79B9_7F4A_7C15
      sum &+= (mixed ^ mixed >> 32) &* number
    }
  }

  func replies(_ view: StoreView) throws(StoreError) {
    var entered: [UInt32: ReplySum] = [:]
    try walk(Schema.index, view) { (key, value) throws(StoreError) in
      if key.indexKind != .reply { return }
      guard let (conversation, digest, moment) = ReplyKey.parts(key),
        let count = CellCount.decode(value)
      else { return report("replies: malformed entry (key of \(key.count) bytes)") }
      if leftovers.contains(conversation) { return }
      entered[conversation, default: ReplySum()].add(count, digest, moment)
    }
    for number in Set(entered.keys).union(recounts.keys).sorted() {
      let found = recounts[number]?.replies ?? ReplySum()
      let known = entered[number] ?? ReplySum()
      if known == found { continue }
      report(
        "replies: conversation \(number): "
          + (known.count == found.count
            ? "entries of other replies than its \(found.count)"
            : "\(known.count) entered, found \(found.count)"))
    }
  }
}
