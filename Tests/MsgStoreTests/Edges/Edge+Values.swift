import MsgStore
import PageFile
import Testing

private func at(_ number: Int) -> Timestamp { Timestamp(microseconds: Int64(number)) }

/// Values that keep their numbers, and options.
extension Edge {
  static let valuesEdges: [Edge] = [
    making("Timestamp.init(microseconds:)") {
      _ = "\(Timestamp(microseconds: Int64($0)))"
      _ = Timestamp(microseconds: Int64($0)).millisecondsSince1970
    },
    making("Timestamp.init(milliseconds:)") {
      _ = "\(Timestamp(milliseconds: Int64($0)))"
      _ = Timestamp(milliseconds: Double($0))
    },
    making("Timestamp.init(seconds:)") {
      _ = "\(Timestamp(seconds: Int64($0)))"
      _ = Timestamp(seconds: Double($0))
    },
    making("Timestamp.microseconds") {
      var time = at(0)
      time.microseconds = Int64($0)
      _ = time.secondsSince1970
    },
    making("MessageID.pushID(at:)") { _ = MessageID.pushID(at: at($0)) },
    making("MessageID.pushID(at:using:)") {
      var generator = SeededGenerator(seed: 1)
      _ = MessageID.pushID(at: at($0), using: &generator)
    },
    making("MessageID.timeOrderedUUID(at:)") { _ = MessageID.timeOrderedUUID(at: at($0)) },
    making("MessageID.timeOrderedUUID(at:using:)") {
      var generator = SeededGenerator(seed: 1)
      _ = MessageID.timeOrderedUUID(at: at($0), using: &generator)
    },
    making("MessageVersion.init(text:time:serverName:)") {
      _ = "\(MessageVersion(text: "x", time: at($0)))"
    },
    making("MessageChange.Parts.init(rawValue:)") {
      _ = "\(MessageChange.Parts(rawValue: UInt16(truncatingIfNeeded: $0)))"
    },
    making("OutboxState.running(owner:expiry:)") {
      _ = "\(OutboxState.running(owner: "w", expiry: at($0)))"
    },
    making("OutboxState.waiting(until:)") { _ = "\(OutboxState.waiting(until: at($0)))" },
    making("OutboxState.scheduled(at:)") { _ = "\(OutboxState.scheduled(at: at($0)))" },
    making("OutboxTask.edit(_:text:mentions:at:)") {
      _ = "\(OutboxTask.edit("m", text: "x", mentions: [], at: at($0)))"
    },
    making("SliceBoundary.gap(_:beyond:)") {
      let number = Int64($0)
      _ = "\(SliceBoundary.gap(min(number, 1)...max(number, 1), beyond: .start))"
    },
    making("Participation.init(member:isActive:joinedAt:changedAt:)") {
      _ = "\(Participation(member: "a", isActive: true, joinedAt: at($0), changedAt: at($0)))"
    },
    making("Delivery.init(status:recipientCount:deliveredCount:readCount:)") {
      let delivery = Delivery(
        status: .sent, recipientCount: $0, deliveredCount: $0, readCount: $0)
      _ = "\(delivery) \(delivery.isReadByAll)"
    },
    making("MemberReceipt.init(member:isRead:deliveredAt:readAt:)") {
      _ = "\(MemberReceipt(member: "a", isRead: true, deliveredAt: at($0), readAt: at($0)))"
    },
    making(
      "Conversation.init(id:kind:participants:title:avatar:preview:lastActivity:messageCount:unreadCount:unreadMentionCount:isMember:isPinned:isMuted:mutedUntil:isArchived:hasDraft:isMarkedUnread:updatedAt:profiles:)"
    ) {
      _ =
        "\(Conversation(id: "c", lastActivity: at($0), messageCount: $0, unreadCount: $0, unreadMentionCount: $0, mutedUntil: at($0), updatedAt: at($0)))"
    },
    making(
      "ConversationPreview.init(messageID:sender:text:isRetracted:attachment:serverTimestamp:status:)"
    ) {
      _ =
        "\(ConversationPreview(messageID: "m", sender: "a", text: "x", serverTimestamp: at($0)))"
    },
    making("UnreadTotals.init(messages:mutedMessages:mentions:mutedMentions:)") {
      _ = "\(UnreadTotals(messages: $0, mutedMessages: $0, mentions: $0, mutedMentions: $0))"
    },
    making("UnreadTotals.messages") { totals($0, \.messages) },
    making("UnreadTotals.mutedMessages") { totals($0, \.mutedMessages) },
    making("UnreadTotals.mentions") { totals($0, \.mentions) },
    making("UnreadTotals.mutedMentions") { totals($0, \.mutedMentions) },
    making("OutboxCounts.queued") { counts($0, \.queued) },
    making("OutboxCounts.held") { counts($0, \.held) },
    making("OutboxCounts.running") { counts($0, \.running) },
    making("OutboxCounts.waiting") { counts($0, \.waiting) },
    making("OutboxCounts.failed") { counts($0, \.failed) },
    making("Statistics.walByteCount") { _ = UInt64(bitPattern: Int64($0)) },
    making("Statistics.checkpointCount") { _ = $0 },
    making("Statistics.cachedPageCount") { _ = $0 },
    making("Statistics.loggedPageCount") { _ = $0 },
    making("Statistics.snapshotCount") { _ = $0 },
    making("PageNumber.init(_:)") { _ = "\(PageNumber(UInt32(truncatingIfNeeded: $0)))" },
    making("LSN.init(_:)") { _ = "\(LSN(UInt64(bitPattern: Int64($0))))" },
    making("TextLimits.init(maximumCharacterCount:maximumByteCount:)") {
      for text in ["", "x", "a longer text"] {
        _ = TextLimits(maximumCharacterCount: $0).check(text)
        _ = TextLimits(maximumByteCount: $0).check(text)
      }
    },
    making("AttachmentLimits.init(rules:maximumPreviewByteCount:maximumContentHashByteCount:)") {
      check(AttachmentLimits(maximumPreviewByteCount: $0, maximumContentHashByteCount: $0))
    },
    making("AttachmentLimits.maximumPreviewByteCount") {
      var limits = AttachmentLimits()
      limits.maximumPreviewByteCount = $0
      check(limits)
    },
    making("AttachmentLimits.maximumContentHashByteCount") {
      var limits = AttachmentLimits()
      limits.maximumContentHashByteCount = $0
      check(limits)
    },
    making("AttachmentLimits.Rule.init(maximumByteCount:mimeTypes:)") {
      check(AttachmentLimits(rules: [.image: .init(maximumByteCount: Int64($0))]))
    },
    making("AttachmentLimits.Rule.maximumByteCount") {
      var rule = AttachmentLimits.Rule()
      rule.maximumByteCount = Int64($0)
      check(AttachmentLimits(rules: [.image: rule]))
    },
  ]

  static let optionsEdges: [Edge] = [
    option("StoreOptions.cacheByteCount") { $0.cacheByteCount = $1 },
    option("StoreOptions.pageByteCount") { $0.pageByteCount = $1 },
    option("StoreOptions.mark") { $0.mark = LSN(UInt64(bitPattern: Int64($1))) },
    option("StoreOptions.maximumEditAge") { $0.maximumEditAge = .seconds($1) },
    option("StoreOptions.maximumRetractionAge") { $0.maximumRetractionAge = .seconds($1) },
    option("OutboxOptions.maximumAge") { $0.outbox.maximumAge = .seconds($1) },
    option("PendingReceipt.Form.ids(maximumCount:)") {
      $0.outbox.receiptForm = .ids(maximumCount: $1)
    },
    option("OutboxOptions.maximumAttemptCount") { $0.outbox.maximumAttemptCount = $1 },
    option("StoreOptions.init(localMember:pageByteCount:cacheByteCount:access:clock:)") {
      $0 = StoreOptions(localMember: "me", cacheByteCount: $1)
    },
    database("DatabaseOptions.cacheByteCount") { $0.cacheByteCount = $1 },
    database("DatabaseOptions.pageByteCount") { $0.pageByteCount = $1 },
    database("DatabaseOptions.mark") { $0.mark = LSN(UInt64(bitPattern: Int64($1))) },
  ]

  /// An option of a store that is opened, written, and opened again.
  private static func option(
    _ name: String, _ change: @escaping @Sendable (inout StoreOptions, Int) -> Void
  ) -> Edge {
    making(name) { number in
      var options = StoreOptions(localMember: "me", clock: { at(1_000_000) })
      change(&options, number)
      options.createsConversationsOnSend = true
      let files = MemoryDirectory()
      for round in 0..<2 {
        let store = try MessageStore(in: files, name: "store", options: options)
        try store.write { chat throws in
          try chat.insert(
            chatMessage(MessageID("m\(round)"), in: "room", at: Int64(round + 1), from: "me"))
          _ = try chat.send(own(MessageID("n\(round)"), in: "room"))
          _ = try chat.outbox.next(for: "w")
        }
        // The limits on ages may refuse these.
        _ = try? store.write { _ = try $0.edit("m0", in: "room", text: "x") }
        _ = try? store.write { _ = try $0.retract("m0", in: "room") }
        try store.expectSound()
        try store.close()
      }
    }
  }

  private static func database(
    _ name: String, _ change: @escaping @Sendable (inout DatabaseOptions, Int) -> Void
  ) -> Edge {
    making(name) { number in
      var options = DatabaseOptions()
      change(&options, number)
      let files = MemoryDirectory()
      for _ in 0..<2 { try Database(in: files, name: "x", options: options).close() }
    }
  }

  private static func totals(_ number: Int, _ path: WritableKeyPath<UnreadTotals, Int>) {
    var totals = UnreadTotals()
    totals[keyPath: path] = number
    _ = "\(totals)"
  }

  private static func counts(_ number: Int, _ path: WritableKeyPath<OutboxCounts, Int>) {
    var counts = OutboxCounts()
    counts[keyPath: path] = number
    _ = "\(counts) \(counts.total)"
  }

  private static func check(_ limits: AttachmentLimits) {
    for byteCount in [nil, 0, 1, .max] as [Int64?] {
      var attachment = MessageAttachment(id: "a", kind: .image, byteCount: byteCount)
      (attachment.preview, attachment.contentHash) = ([1], [1])
      _ = limits.check(attachment)
    }
  }
}
