import MsgStore
import PageFile

/// Rule 17: the times at which messages expire, and mutes end.
extension StoreCheck {
  /// The expiring messages of one conversation, as a number and a sum that hardly any others have.
  ///
  /// So messages and entries, which are in different orders, are compared without keeping them.
  struct ExpirySum: Equatable {
    private(set) var count: UInt64 = 0
    private var sum: UInt64 = 0

    mutating func add(_ number: UInt64, _ entry: ExpiryKey) {
      guard let moment = entry.moment else { return }
      count &+= number
      let expiry = ThreadMoment(.acknowledged(entry.time, sequence: nil)).checksum
      let mixed = (moment.checksum ^ expiry) &* 0x9E37_79B9_7F4A_7C15
      sum &+= (mixed ^ mixed >> 32) &* number
    }
  }

  /// Counts a message that expires, and compares its mark with the place that counters have
  /// reached.
  func countExpiry(
    of message: StoredMessage, at position: MessagePosition, _ name: String, _ view: StoreView,
    in conversation: UInt32, _ recount: inout Recount
  ) throws(StoreError) {
    guard let time = message.traits.expiryTime else {
      if message.traits.isLetGo { report("\(name): expired without a time") }
      return
    }
    let entry = ExpiryKey(
      time: time, conversation: conversation, ThreadMoment(position.place))
    recount.expiry.add(1, entry)
    let isLetGo = try view.expiry.reached()?.isBehind(entry, position) ?? false
    if isLetGo != message.traits.isLetGo {
      report("\(name): expired \(message.traits.isLetGo), found \(isLetGo)")
    }
  }

  /// Checks the mark of a mute with an end, and its entry.
  func muteEnd(
    of number: UInt32, _ details: ConversationDetails, _ summary: ConversationSummary,
    _ view: StoreView
  ) throws(StoreError) {
    guard let end = details.mutedUntil else { return }
    let name = "conversation \"\(details.id)\""
    let entry = ExpiryKey(muteOf: number, until: end)
    let isBehind = try view.expiry.reached()?.isBehind(entry) ?? false
    let isMarked = summary.marks.contains(.muted)
    if isMarked == (details.hasMuteEnded || isBehind) {
      report("\(name): muted \(isMarked), found \(!isMarked) (until \(end))")
    }
    if !details.hasMuteEnded, try view.expiry.count(entry) == 0 {
      report("\(name): end of its mute missing from the expiry tree")
    }
  }

  func expiry(_ view: StoreView) throws(StoreError) {
    var entered: [UInt32: ExpirySum] = [:]
    var hasMute = false
    try walk(Schema.expiry, view) { (key, value) throws(StoreError) in
      if key.count == 1, key[0] == 0 {
        if ExpiryBorder(value) == nil { report("expiry: malformed border (\(value.count) bytes)") }
        return
      }
      guard let entry = ExpiryKey(key), let count = CellCount.decode(value) else {
        return report("expiry: malformed entry (key of \(key.count) bytes)")
      }
      guard entry.moment != nil else {
        hasMute = true
        return try mute(entry, value, view)
      }
      if leftovers.contains(entry.conversation) { return }
      entered[entry.conversation, default: ExpirySum()].add(count, entry)
    }
    if view.source.root(of: Schema.expiry) != .none, entered.isEmpty, leftovers.isEmpty, !hasMute {
      report("expiry: a place without an entry")
    }
    for number in Set(entered.keys).union(recounts.keys).sorted() {
      let found = recounts[number]?.expiry ?? ExpirySum()
      let known = entered[number] ?? ExpirySum()
      if known == found { continue }
      report(
        "expiry: conversation \(number): "
          + (known.count == found.count
            ? "entries of other messages than its \(found.count)"
            : "\(known.count) entered, found \(found.count)"))
    }
  }

  /// Checks that the mute of an entry ends at its time.
  private func mute(
    _ entry: ExpiryKey, _ value: Bytes, _ view: StoreView
  ) throws(StoreError) {
    if value.count > 0 { report("expiry: malformed entry of a mute (\(value.count) bytes)") }
    try reporting("expiry: ") { () throws(StoreError) in
      if try view.conversations.details(entry.conversation).awaitedMuteEnd != entry.time {
        report("expiry: conversation \(entry.conversation): no mute until \(entry.time)")
      }
    }
  }
}
