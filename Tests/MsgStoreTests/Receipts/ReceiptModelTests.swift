import MsgStore
import PageFile
import Testing

/// Random marks and receipts against plain sets of messages; and the same facts in any order.
struct ReceiptModelTests {
  private static let members: [MemberID] = ["me", "you", "ann", "bob", "eve"]

  /// Which messages each member has read and received, one by one.
  private struct Naive {
    struct Entry {
      let id: MessageID
      let time: Int64
      let sender: MemberID
      let isHistory: Bool
      var isUnseen: Bool
    }
    struct Mark: Hashable {
      let member: MemberID
      let kind: ReceiptKind
    }

    var entries: [Entry] = []
    /// Marks by the message they go up to, each with its earliest time.
    var marks: [Mark: [MessageID: Int64?]] = [:]
    var exact: [Mark: [MessageID: Int64?]] = [:]
    /// What was read or delivered here and not told.
    var untold: [ReceiptKind: Set<MessageID>] = [:]
    var delivered: Set<MessageID> = []
    /// Where the local member's own mark is.
    var mark: Entry?

    var sorted: [Entry] { entries.sorted { ($0.time, $0.id) < ($1.time, $1.id) } }

    func reaches(_ mark: MessageID, _ entry: Entry) -> Bool {
      guard let end = entries.first(where: { $0.id == mark }) else { return false }
      return (entry.time, entry.id) <= (end.time, end.id)
    }

    func has(_ member: MemberID, _ kind: ReceiptKind, _ entry: Entry) -> Bool {
      let key = Mark(member: member, kind: kind)
      return exact[key]?[entry.id] != nil
        || marks[key]?.keys.contains { reaches($0, entry) } ?? false
    }

    /// What came as history is read when the mark has gone over it.
    func isReadHere(_ entry: Entry) -> Bool {
      entry.isHistory
        ? mark.map { (entry.time, entry.id) <= ($0.time, $0.id) } ?? false : !entry.isUnseen
    }

    func isUnread(_ entry: Entry) -> Bool {
      entry.isUnseen && entry.sender != "me" && !has("me", .read, entry)
    }

    func time(_ member: MemberID, _ kind: ReceiptKind, _ entry: Entry) -> Int64? {
      let key = Mark(member: member, kind: kind)
      let times =
        (marks[key] ?? [:]).filter { reaches($0.key, entry) }.map(\.value)
        + [exact[key]?[entry.id] ?? nil]
      return times.compactMap { $0 }.min()
    }

    mutating func note(_ receipt: ReceivedReceipt) {
      let key = Mark(member: receipt.member, kind: receipt.kind)
      func earlier(_ old: Int64??) -> Int64? {
        [old ?? nil, receipt.time?.microseconds].compactMap { $0 }.min()
      }
      switch receipt.extent {
      case .upTo(let id): marks[key, default: [:]].updateValue(earlier(marks[key]?[id]), forKey: id)
      case .messages(let ids):
        for id in ids {
          exact[key, default: [:]].updateValue(earlier(exact[key]?[id]), forKey: id)
        }
      case .upToPosition, .upToSequence: break
      }
      if receipt.member == "me" { forgetTold() }
    }

    mutating func forgetTold() {
      for entry in entries {
        let isRead = has("me", .read, entry)
        if isRead { untold[.read]?.remove(entry.id) }
        if isRead || has("me", .delivered, entry) {
          untold[.delivered]?.remove(entry.id)
          delivered.insert(entry.id)
        }
      }
    }
  }

  private func randomReceipt(
    _ random: inout SeededGenerator, of member: MemberID
  ) -> ReceivedReceipt {
    let ids = (0..<Int.random(in: 1..<3, using: &random)).map { _ in
      MessageID("m\(Int.random(in: 0..<30, using: &random))")
    }
    return ReceivedReceipt(
      in: "room", of: member, random.chance(60) ? .read : .delivered,
      random.chance(60) ? .upTo(ids[0]) : .messages(ids),
      time: random.chance(70) ? time(.random(in: 0..<100, using: &random)) : nil)
  }

  private static func mentionsMe(_ id: MessageID) -> Bool {
    id.string.count { "13579".contains($0) } == 1
  }

  /// The unread mentions, one after the other.
  private func mentions(in thread: borrowing MessageThread) throws -> [MessageID] {
    var ids: [MessageID] = []
    var position: MessagePosition?
    while let mention = try thread.nextUnreadMention(after: position) {
      #expect(mention.mentions.contains("me"))
      ids.append(mention.id)
      position = mention.position
    }
    return ids
  }

  private func compare(_ store: MessageStore, _ naive: Naive) throws {
    let unread = naive.sorted.filter { naive.isUnread($0) }
    #expect(try store.unread() ?? 0 == unread.count)
    #expect(try store.firstUnread() == unread.first?.id)
    #expect(
      try store.read { try mentions(in: $0.thread("room")) }
        == unread.map(\.id).filter(Self.mentionsMe))
    for entry in naive.entries {
      let others = Self.members.filter { $0 != entry.sender && $0 != "eve" }
      let hasRead = { (member: MemberID) in
        naive.has(member, .read, entry)
          || (member == "me" && entry.sender != "me" && naive.isReadHere(entry))
      }
      let hasIt = { (member: MemberID) in
        hasRead(member) || naive.has(member, .delivered, entry)
      }
      let delivery = try #require(try store.delivery(entry.id))
      #expect(delivery.recipientCount == others.count)
      #expect(delivery.readCount == others.count { hasRead($0) })
      if entry.sender == "me" {
        #expect(delivery.deliveredCount == others.count { hasIt($0) })
        let status: MessageStatus =
          others.allSatisfy(hasRead) ? .read : others.allSatisfy(hasIt) ? .delivered : .sent
        #expect(delivery.status == status)
        #expect(try store.status(entry.id) == status)
        try compareTimes(store, naive, entry, status)
      }
      let readers = try store.readers(entry.id)
      for member in Self.members where member != "me" && member != entry.sender {
        let reader = readers.first { $0.member == member }
        #expect((reader != nil) == hasIt(member))
        guard let reader else { continue }
        #expect(reader.isRead == hasRead(member))
        // Times are exact as long as there are no more marks than are kept.
        let key = Naive.Mark(member: member, kind: .read)
        if naive.marks[key]?.count ?? 0 <= ReceiptSteps.maximumCount {
          #expect(reader.readAt?.microseconds == naive.time(member, .read, entry))
        }
      }
      #expect(!readers.contains { $0.member == entry.sender })
    }
    for kind in ReceiptKind.allCases {
      let told = try store.pending(kind, as: .ids(maximumCount: 4))
      let ids = told.flatMap(\.ids)
      #expect(ids.count == Set(ids).count)
      #expect(told.allSatisfy { $0.ids.count <= 4 })
      #expect(Set(ids) == naive.untold[kind, default: []], "\(kind)")
      #expect(try store.pendingRooms(kind).isEmpty || !told.isEmpty)
      if !ids.isEmpty { #expect(try store.pendingRooms(kind) == ["room"]) }
    }
  }

  private func compareTimes(
    _ store: MessageStore, _ naive: Naive, _ entry: Naive.Entry, _ status: MessageStatus
  ) throws {
    // As below: exact while no member has more marks than are kept.
    guard naive.marks.values.allSatisfy({ $0.count <= ReceiptSteps.maximumCount }) else { return }
    let others = Self.members.filter { $0 != "me" }
    let readAt = others.compactMap { naive.time($0, .read, entry) }.min()
    let deliveredAt = others.compactMap { naive.time($0, .delivered, entry) }.min()
    let message = try #require(try store.read { try $0.message(entry.id, in: "room") })
    #expect(message.readAt?.microseconds == (status == .read ? readAt : nil))
    let known = [readAt, deliveredAt].compactMap { $0 }.min()
    #expect(message.deliveredAt?.microseconds == (status == .sent ? nil : known))
  }

  private func isBefore(_ entry: Naive.Entry, _ limit: Naive.Entry?) -> Bool {
    limit.map { (entry.time, entry.id) <= ($0.time, $0.id) } ?? true
  }

  private func step(
    _ chat: borrowing StoreWriter, _ naive: inout Naive, _ random: inout SeededGenerator
  ) throws {
    let id = MessageID("m\(Int.random(in: 0..<30, using: &random))")
    switch Int.random(in: 0..<100, using: &random) {
    case ..<40:
      // Another copy would be merged, which is tested elsewhere.
      guard !naive.entries.contains(where: { $0.id == id }) else { return }
      let sender = Self.members[random.chance(35) ? 0 : Int.random(in: 1..<4, using: &random)]
      let moment = Int64.random(in: 0..<50, using: &random)
      let isLive = random.chance(85)
      var new = message(id, at: moment, from: sender)
      if Self.mentionsMe(id) { new.mentions = ["you", "me"] }
      let outcome = try chat.insert(new, as: isLive ? .live : .history)
      guard outcome == .inserted else { return }
      naive.entries.append(
        .init(id: id, time: moment, sender: sender, isHistory: !isLive, isUnseen: isLive))
      if !isLive { naive.delivered.insert(id) }
      naive.forgetTold()
    case ..<65:
      let receipt = randomReceipt(
        &random, of: Self.members.randomElement(using: &random) ?? "you")
      try chat.receive(receipt)
      naive.note(receipt)
    case ..<75:
      let limit = random.chance(70) ? naive.entries.randomElement(using: &random) : nil
      guard try limit.map({ try chat.markRead("room", upTo: $0.id) }) ?? chat.markRead("room")
      else { return }
      // A mark never goes back, and going on it takes with it what came to lie below it.
      for index in naive.entries.indices where isBefore(naive.entries[index], limit) {
        let entry = naive.entries[index]
        if naive.isUnread(entry) { naive.untold[.read, default: []].insert(entry.id) }
        naive.entries[index].isUnseen = false
      }
      let target = naive.sorted.last { isBefore($0, limit) }
      if let target, !(naive.mark.map { isBefore(target, $0) } ?? false) { naive.mark = target }
    case ..<85:
      try chat.markRead([id], in: "room")
      guard let index = naive.entries.firstIndex(where: { $0.id == id }),
        naive.isUnread(naive.entries[index])
      else { return }
      naive.untold[.read, default: []].insert(id)
      naive.entries[index].isUnseen = false
      // Whoever has read it has it.
      naive.untold[.delivered]?.remove(id)
      naive.delivered.insert(id)
    case ..<92:
      guard try chat.markDelivered("room") else { return }
      for entry in naive.entries where entry.sender != "me" {
        guard naive.delivered.insert(entry.id).inserted else { continue }
        guard !naive.has("me", .read, entry) else { continue }
        naive.untold[.delivered, default: []].insert(entry.id)
      }
    default:
      break
    }
  }

  @Test(arguments: seeds(12, debugCount: 6)) func theStoreAnswersAsPlainSetsOfMessagesDo(
    seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    let directory = MemoryDirectory()
    var store = try groupStore(directory, packing: .random(seed))
    var naive = Naive()
    for _ in 0..<60 {
      try store.write(.relaxed) { chat in
        for _ in 0..<Int.random(in: 1..<5, using: &random) {
          try step(chat, &naive, &random)
        }
      }
      try compare(store, naive)
      // Some of what is to be told arrives, in any order.
      for kind in ReceiptKind.allCases where random.chance(30) {
        for pending in try store.pending(kind, as: .ids(maximumCount: 4)).shuffled(using: &random)
        where random.chance(50) {
          try store.write(.relaxed) { _ = try $0.confirm(pending) }
          for id in pending.ids { naive.untold[kind]?.remove(id) }
        }
        try compare(store, naive)
      }
      if random.chance(5) {
        try store.close()
        store = try memoryStore(directory, packing: .random(seed))
      }
    }
    try store.expectSound()
  }

  private enum Fact {
    case message(Message)
    case receipt(ReceivedReceipt)
    case place(MessageID, Int64)
  }

  @Test(arguments: seeds(6, debugCount: 3)) func theSameReceiptsInAnyOrderEndInTheSame(seed: UInt64)
    throws
  {
    var random = SeededGenerator(seed: seed)
    var facts: [Fact] = []
    for number in 0..<20 {
      facts.append(
        .message(
          message(
            MessageID("m\(number)"), at: .random(in: 0..<30, using: &random),
            from: Self.members.randomElement(using: &random) ?? "you")))
    }
    for _ in 0..<30 {
      facts.append(
        .receipt(
          randomReceipt(&random, of: Self.members.randomElement(using: &random) ?? "you")))
    }
    let places = (0..<12).map { _ in
      Fact.place(
        MessageID("m\(Int.random(in: 0..<20, using: &random))"), .random(in: 0..<30, using: &random)
      )
    }
    // Members get their numbers in the same order, so that answers can be compared.
    func play() throws -> String {
      let directory = MemoryDirectory()
      var store = try groupStore(directory, packing: .random(seed))
      try store.write { try $0.receive(receipt("eve", .read, upTo: "never")) }
      // A place that comes before its message says nothing, so all of them come once more.
      let order =
        (facts + places).shuffled(using: &random) + facts.shuffled(using: &random).prefix(10)
        + places.shuffled(using: &random)
      for fact in order {
        try store.write(.relaxed) { chat in
          switch fact {
          case .message(let message): try chat.insert(message)
          case .receipt(let receipt): try chat.receive(receipt)
          case .place(let id, let moment):
            try chat.acknowledge(id, in: "room", serverTimestamp: time(moment))
          }
        }
        if random.chance(5) {
          try store.close()
          store = try memoryStore(directory, packing: .random(seed))
        }
      }
      try store.expectSound()
      return try store.read { chat in
        let conversation = try chat.conversation("room")
        let messages = try chat.thread("room").tail(100)
        let parts = try messages.map { message in
          let delivery = try chat.delivery(of: message.id, in: "room")
          let readers = try chat.readers(of: message.id, in: "room")
          return "\(message.id) \(message.status) \(String(describing: delivery)) \(readers)"
        }
        return "\(conversation?.unreadCount ?? -1) " + parts.joined(separator: "\n")
      }
    }
    let first = try play()
    for _ in 0..<4 { #expect(try play() == first) }
  }
}
