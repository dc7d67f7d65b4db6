import MsgStore
import MsgStoreTools
import PageFile

/// The content of a store and everything derived from it, as lines.
struct OrderPicture {
  private(set) var lines: [String] = []

  init(
    of store: MessageStore, _ kinds: Set<OrderKind>, after beginning: OrderBeginning
  ) throws {
    let exported = try Self.export(of: store)
    let isDeleted = exported.contains { $0.contains("deleted_up_to_ms") }
    lines =
      exported
      .filter { !OrderExclusions.excludes($0, of: kinds, after: beginning, isDeleted: isDeleted) }
      .map { Self.withoutChance(OrderExclusions.withoutExcluded($0, after: beginning)) }.sorted()
    try store.read { chat in
      for id in [orderLocalRoom, orderRoom] { try add(id, chat) }
      add("totals \(try chat.unreadTotals)")
      for tag in [.starred, .pinned] as [MessageTag] {
        add("\(tag): \(try chat.tagged(tag).count) everywhere")
      }
      if !beginning.handsOutReceipt {
        add("\(try chat.outbox.counts().running) entries are running")
      }
    }
    for finding in try store.check() { add("CHECK \(finding)") }
  }

  /// The findings of a check.
  var findings: [String] { lines.filter { $0.hasPrefix("· CHECK") } }

  private mutating func add(_ line: String) { lines.append("· " + line) }

  private mutating func add(_ id: ConversationID, _ chat: borrowing StoreSnapshot) throws {
    guard let room = try chat.conversation(id) else { return add("\(id) is not listed") }
    add(
      "\(id): \(room.messageCount) messages, \(room.unreadCount) unread,"
        + " \(room.unreadMentionCount) mentions, activity \(room.lastActivity.brief),"
        + " preview \(room.preview.map { "\($0)" } ?? "-"), muted \(room.isMuted)")
    add("\(id): gaps \(try chat.gaps(in: id)), known \(try chat.knownSequences(in: id))")
    add("\(id): \(try chat.participations(in: id))")
    let slice = try chat.thread(id).tail(200)
    let unread = try chat.unread(in: slice)
    let deliveries = try chat.deliveries(of: slice)
    for index in slice.indices {
      let message = slice[index]
      add(
        "\(id) \(message.id): unread \(unread[index]), \(message.status),"
          + " delivery \(deliveries[index].map { "\($0)" } ?? "-"), tags \(message.tags),"
          + " delivered \(message.deliveredAt.brief), read \(message.readAt.brief),"
          + " \(try chat.replies(to: message.id, in: id).count()) replies,"
          + " files \(message.attachments)")
    }
  }

  /// Returns the lines of an export.
  static func export(of store: MessageStore) throws -> [String] {
    var bytes: [UInt8] = []
    try StoreExport.records(of: store) { JSONLineWriter.append($0, to: &bytes) }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// Returns a line without the fields that chance or the order of the outbox decides.
  private static func withoutChance(_ line: String) -> String {
    var line = line
    for field in ["retry_ms", "token", "content_sum", "since_ms"] {
      while let start = line.firstRange(of: "\"\(field)\":")?.lowerBound {
        let rest = line[start...]
        let end = rest.firstIndex(of: ",").map(line.index(after:)) ?? rest.firstIndex(of: "}")
        line.removeSubrange(start..<(end ?? line.endIndex))
      }
    }
    return line.replacing(",}", with: "}")
  }
}
