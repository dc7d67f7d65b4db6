import MsgStore
import PageFile

/// Rule 15: the times and numbers of messages with tags.
extension StoreCheck {
  /// The messages of one conversation that have one tag, as a number and a sum that hardly any
  /// other messages have.
  ///
  /// So messages and entries, which are in different orders, are compared without keeping them.
  struct TagSum: Equatable {
    private(set) var count: UInt64 = 0
    private var sum: UInt64 = 0

    mutating func add(_ number: UInt64, _ moment: ThreadMoment) {
      count &+= number
      sum &+= moment.checksum &* number
    }
  }

  /// The messages of all conversations that have one tag.
  struct EverywhereSum: Equatable {
    private var count: UInt64 = 0
    private var sum: UInt64 = 0

    mutating func add(_ number: UInt64, _ time: Int64, _ conversation: UInt32) {
      count &+= number
      let moment = ThreadMoment(.pending(time, localOrder: Int64(0)))
      sum &+= (moment.checksum ^ UInt64(conversation)) &* 0x9E37_79B9_7F4A_7C15 &* number
    }
  }

  /// Counts the tags of a message, and compares those of its attachments with the attachments.
  func countTags(
    of message: StoredMessage, at position: MessagePosition, _ name: String, _ view: StoreView,
    in conversation: UInt32, _ recount: inout Recount
  ) throws(StoreError) {
    var message = message
    let id = message.id(at: position)
    if message.traits.marks.contains(.tagged) {
      let found = try view.facts.setTags(of: id, in: conversation)
      let stored = message.traits.tags.intersection(.settable)
      if stored != found {
        report("\(name): wrong tags (stored \(stored.rawValue), found \(found.rawValue))")
      }
    }
    if message.traits.marks.contains(.attachments) {
      let found = try view.facts.attachmentTags(of: id, in: conversation)
      let stored = message.traits.tags.intersection(.attachments)
      if stored != found {
        report(
          "\(name): wrong tags of attachments (stored \(stored.rawValue), found \(found.rawValue))")
      }
      message.traits.tags.subtract(.attachments)
      message.traits.tags.formUnion(found)
    }
    let moment = ThreadMoment(position.place)
    try message.shownTags(for: view.localMemberNumber).forEach { (tag) throws(StoreError) in
      recount.tags[tag, default: TagSum()].add(1, moment)
      if TagSet(number: tag).isSubset(of: .everywhere) {
        taggedEverywhere[tag, default: EverywhereSum()].add(1, moment.time, conversation)
      }
    }
  }

  func tags(_ view: StoreView) throws(StoreError) {
    var current: CountedTag?
    var names: Set<[UInt8]> = []
    var everywhereCounts: [UInt8: UInt64] = [:]
    var statedCounts: [UInt8: UInt64] = [:]
    var enteredEverywhere: [UInt8: EverywhereSum] = [:]
    try walk(Schema.index, view) { (key, value) throws(StoreError) in
      if key.indexKind != .tag { return }
      switch TagKey.parts(key) {
      case .count(TagKey.allConversations, let tag)?:
        statedCounts[tag] = CellCount.decode(value)
      case .count(let conversation, let tag)?:
        compare(current)
        current = CountedTag(conversation: conversation, tag: tag)
        current?.count = CellCount.decode(value)
        if current?.count == nil { report("tags: malformed count (\(value.count) bytes)") }
      case .entry(let conversation, let tag, let moment)?:
        if current?.conversation != conversation || current?.tag != tag {
          compare(current)
          current = CountedTag(conversation: conversation, tag: tag)
        }
        guard let count = CellCount.decode(value) else {
          return report("tags: malformed entry (value of \(value.count) bytes)")
        }
        current?.entered.add(count, moment)
      case .everywhere(let tag, let time, let conversation)?:
        guard let count = CellCount.decode(value) else {
          return report("tags: malformed entry (value of \(value.count) bytes)")
        }
        everywhereCounts[tag, default: 0] &+= count
        if leftovers.contains(conversation) { return }
        enteredEverywhere[tag, default: EverywhereSum()].add(count, time, conversation)
      case .name(let tag)?:
        guard let name = TagKey.ownName(value) else {
          return report("tags: malformed name of tag \(tag)")
        }
        if !names.insert(Array(name.utf8)).inserted {
          report("tags: name \"\(name)\" of two tags")
        }
      case nil:
        report("tags: malformed key (\(key.count) bytes)")
      }
    }
    compare(current)
    if statedCounts != everywhereCounts {
      report("tags: counts of all conversations \(statedCounts), entered \(everywhereCounts)")
    }
    if enteredEverywhere != taggedEverywhere {
      report("tags: entries of all conversations disagree with the messages")
    }
    for number in recounts.keys.sorted() {
      for (tag, sum) in recounts[number]?.tags.sorted(by: { $0.key < $1.key }) ?? [] {
        report("tags: conversation \(number), tag \(tag): none entered, found \(sum.count)")
      }
    }
  }

  /// The entries of one tag of a conversation.
  private struct CountedTag {
    let conversation: UInt32
    let tag: UInt8
    /// The number that the tree states; nil if it states none.
    var count: UInt64?
    var entered = TagSum()
  }

  /// Compares the entries of a tag with the messages, and takes the tag from the recount.
  private func compare(_ counted: CountedTag?) {
    guard let counted else { return }
    let name = "tags: conversation \(counted.conversation), tag \(counted.tag)"
    let found =
      recounts[counted.conversation]?.tags.removeValue(forKey: counted.tag) ?? TagSum()
    if counted.count != counted.entered.count {
      let count = counted.count.map { "\($0)" } ?? "missing"
      report("\(name): count \(count), entered \(counted.entered.count)")
    }
    if counted.entered == found { return }
    report(
      counted.entered.count == found.count
        ? "\(name): entries at other times than those of its \(found.count) messages"
        : "\(name): \(counted.entered.count) entered, found \(found.count)")
  }
}
