import MsgStore
import PageFile

private func at(_ number: Int) -> Timestamp { Timestamp(microseconds: Int64(number)) }

/// What the outbox is asked for, what comes from the server, and what is composed.
extension Edge {
  static let outboxEdges: [Edge] = [
    writing("OutboxWriter.next(for:lease:)") { chat, number in
      _ = try chat.outbox.next(for: "w", lease: .seconds(number))
      _ = try chat.outbox.next(for: "w", lease: .microseconds(number))
    },
    writing("OutboxWriter.next(for:maximumCount:lease:)") { chat, number in
      _ = try chat.outbox.next(for: "w", maximumCount: 3, lease: .seconds(number))
      _ = try chat.outbox.next(for: "w", maximumCount: number)
    },
    writing("OutboxWriter.renew(_:lease:)") { chat, number in
      guard let item = try chat.outbox.next(for: "w") else { return }
      _ = try chat.outbox.renew(item, lease: .seconds(number))
    },
    writing("OutboxWriter.complete(_:serverTime:serverName:)", limit: lastTime) { chat, number in
      guard let item = try chat.outbox.next(for: "w") else { return }
      _ = try chat.outbox.complete(item, serverTime: at(number))
    },
    writing("OutboxWriter.fail(_:because:retryAt:)", limit: lastTime) { chat, number in
      guard let item = try chat.outbox.next(for: "w") else { return }
      _ = try chat.outbox.fail(item, because: SendFailure(.timeOut), retryAt: at(number))
    },
    writing("OutboxWriter.schedule(_:at:)", limit: lastTime) { chat, number in
      guard let entry = try chat.outbox.entries(count: 1).entries.first else { return }
      _ = try chat.outbox.schedule(entry.id, at: at(number))
    },
    awaiting("MessageStore.work(for:lease:)") { store, number in
      for try await item in store.work(for: "w", lease: .seconds(number)) {
        _ = try await store.write { try $0.outbox.complete(item) }
        break
      }
    },
    awaiting("MessageStore.work(for:maximumCount:lease:)") { store, number in
      for try await items in store.work(for: "w", maximumCount: number) {
        _ = try await store.write { try $0.outbox.complete(contentsOf: items) }
        break
      }
    },
    making("OutboxEntry.ID.init(rawValue:)") {
      _ = "\(OutboxEntry.ID(rawValue: UInt64(bitPattern: Int64($0))))"
    },
    making(
      "OutboxEntry.init(id:kind:conversation:message:text:state:isBlocked:attemptCount:failure:created:token:)"
    ) {
      _ =
        "\(OutboxEntry(id: .init(rawValue: 1), kind: .send, conversation: nil, attemptCount: $0, created: at($0), token: .random()))"
    },
    making("OutboxItem.init(id:token:conversation:task:serverName:attempt:expiry:owner:)") {
      _ =
        "\(OutboxItem(id: .init(rawValue: 1), token: .random(), conversation: nil, task: .client(name: "x", payload: []), attempt: $0, expiry: at($0), owner: "w"))"
    },
  ]

  static let receivedEdges: [Edge] = [
    writing(
      "StoreWriter.acknowledge(_:in:serverTimestamp:sequence:revision:as:)", limit: lastTime
    ) { chat, number in
      // Each in a call of its own: a refusal ends the body.
      _ = try chat.acknowledge(
        "later", in: "room", serverTimestamp: at(20), sequence: Int64(number))
      _ = try chat.acknowledge(
        "later", in: "room", serverTimestamp: at(21), revision: Int64(number))
      _ = try chat.acknowledge("mine", in: "room", serverTimestamp: at(number))
    },
    writing("StoreWriter.receiveStatus(_:of:in:at:)", limit: lastTime) {
      _ = try $0.receiveStatus(.read, of: "m2", in: "room", at: at($1))
    },
    writing(
      "StoreWriter.receiveEdit(of:in:text:mentions:attachments:at:serverName:)", limit: lastTime
    ) { _ = try $0.receiveEdit(of: "m1", in: "room", text: "new", at: at($1)) },
    writing("StoreWriter.receiveRetraction(of:in:at:)", limit: lastTime) {
      _ = try $0.receiveRetraction(of: "m1", in: "room", at: at($1))
    },
    writing("StoreWriter.receiveExpiry(of:in:at:)", limit: lastTime) {
      _ = try $0.receiveExpiry(of: "m1", in: "room", at: at($1))
    },
    writing("StoreWriter.receiveTag(_:isRemoved:of:in:at:)", limit: lastTime) {
      _ = try $0.receiveTag(.pinned, of: "m1", in: "room", at: at($1))
      _ = try $0.removeTag(.pinned, of: "m1", in: "room")
    },
    writing("StoreWriter.receiveConversationDeletion(_:at:)", limit: lastTime) {
      _ = try $0.receiveConversationDeletion("room", at: at($1))
    },
    writing("StoreWriter.receive(_:at:of:in:)") {
      let attachment = MessageAttachment(id: "g", kind: .image)
      _ = try $0.receive(attachment, at: $1, of: "m1", in: "room")
    },
    writing("StoreWriter.declareAbsent(_:in:)") { chat, number in
      let last = Int64(number)
      _ = try chat.declareAbsent(min(last, 5)...max(last, 5), in: "room")
      _ = try chat.declareAbsent(last...last, in: "room")
      _ = try chat.gaps(in: "room")
    },
    writing("Reaction.init(_:from:at:serverName:)", limit: lastTime) {
      _ = try $0.receive(Reaction("👍", from: "ann", at: at($1)), to: "m1", in: "room")
    },
    writing("Reaction.time", limit: lastTime) {
      var reaction = Reaction("👍", from: "ann", at: at(1))
      reaction.time = at($1)
      _ = try $0.receive(reaction, to: "not here", in: "room")
    },
    writing("ReceivedReceipt.init(in:of:_:_:time:)", limit: lastTime) { chat, number in
      _ = try chat.receive(
        ReceivedReceipt(in: "room", of: "bob", .read, .upToSequence(Int64(number))))
      _ = try chat.receive(
        ReceivedReceipt(in: "room", of: "ann", .read, .upTo("m2"), time: at(number)))
    },
    writing("ReceivedReceipt.time", limit: lastTime) {
      var receipt = ReceivedReceipt(in: "room", of: "bob", .delivered, .messages(["m2", "none"]))
      receipt.time = at($1)
      _ = try $0.receive(receipt)
    },
    writing("ReceivedConversation.init(_:at:)", limit: lastTime) {
      var conversation = ReceivedConversation("room", at: at($1))
      conversation.title = .text("T")
      conversation.members = [.init("eve")]
      conversation.isPinned = true
      _ = try $0.receive(conversation)
      _ = try $0.setTitle("U", of: "room")
      _ = try $0.setPinned(false, of: "room")
    },
    writing("ReceivedConversation.at", limit: lastTime) {
      var conversation = ReceivedConversation("room", at: at(1))
      conversation.at = at($1)
      conversation.isArchived = true
      _ = try $0.receive(conversation)
    },
    writing("ReceivedConversation.createdAt", limit: lastTime) {
      var conversation = ReceivedConversation("new", at: at(1))
      conversation.createdAt = at($1)
      _ = try $0.receive(conversation)
    },
    writing("ReceivedConversation.mutedUntil", limit: lastTime) {
      var conversation = ReceivedConversation("room", at: at(1))
      conversation.isMuted = true
      conversation.mutedUntil = at($1)
      _ = try $0.receive(conversation)
    },
    writing("ReceivedConversation.Member.init(_:isActive:joinedAt:)", limit: lastTime) {
      var conversation = ReceivedConversation("room", at: at(1))
      conversation.members = [.init("eve", joinedAt: at($1))]
      _ = try $0.receive(conversation)
    },
    writing("ReceivedConversation.Member.joinedAt", limit: lastTime) {
      var member = ReceivedConversation.Member("eve")
      member.joinedAt = at($1)
      var conversation = ReceivedConversation("room", at: at(1))
      conversation.members = [member]
      _ = try $0.receive(conversation)
    },
    writing("MemberProfile.init(of:name:picture:version:fetchedAt:)", limit: lastTime) {
      _ = try $0.receive(MemberProfile(of: "ann", name: "Ann", version: Int64($1)))
      _ = try $0.receive(MemberProfile(of: "bob", name: "Bob", fetchedAt: at($1)))
    },
    writing("MemberProfile.version") {
      var profile = MemberProfile(of: "ann", name: "Ann")
      profile.version = Int64($1)
      _ = try $0.receive(profile)
    },
    writing("MemberProfile.fetchedAt", limit: lastTime) {
      var profile = MemberProfile(of: "ann", name: "Ann")
      profile.fetchedAt = at($1)
      _ = try $0.receive(profile)
    },
    writing("OwnField.init(_:_:at:isLocal:)", limit: lastTime) {
      _ = try $0.receive([OwnField("a", [1], at: at($1))], of: .message("m1", in: "room"))
      _ = try $0.setOwnField("a", [2], of: .message("m1", in: "room"))
    },
    writing("OwnField.kind(_:at:)", limit: lastTime) {
      _ = try $0.receive([.kind("k", at: at($1))], of: .conversation("room"))
      _ = try $0.setOwnKind("l", of: .conversation("room"))
    },
    writing("Draft.init(text:replyTo:time:)", limit: lastTime) {
      var conversation = ReceivedConversation("room", at: at(1))
      conversation.draft = Draft(text: "x", time: at($1))
      _ = try $0.receive(conversation)
      _ = try $0.setDraft("y", in: "room")
    },
    writing("ReceivedReceipt.Extent.upToSequence(_:)") {
      let extent = ReceivedReceipt.Extent.upToSequence(Int64($1))
      _ = try $0.receive(ReceivedReceipt(in: "room", of: "bob", .read, extent))
      _ = try $0.receive(ReceivedReceipt(in: "room", of: "me", .read, extent))
    },
    writing("ReconciledRange.newest(count:)") {
      let kept = chatMessage("m4", in: "room", at: 4)
      _ = try $0.reconcile([kept], in: "room", within: .newest(count: $1))
      _ = try $0.reconcile([], in: "room", within: .newest(count: $1))
    },
    writing("ReconciledRange.times(_:)") {
      let range = min(at($1), at(3))...max(at($1), at(3))
      _ = try $0.reconcile([], in: "room", within: .times(range))
    },
    writing("AttachmentTransfer.running(doneByteCount:)") {
      let transfer = AttachmentTransfer.running(doneByteCount: Int64($1))
      _ = try $0.setTransfer(.download, to: transfer, of: "f", message: "m1", in: "room")
    },
    writing("AttachmentTransfer.failed(_:count:)") {
      let transfer = AttachmentTransfer.failed(SendFailure(.other), count: $1)
      _ = try $0.setTransfer(.download, to: transfer, of: "f", message: "m1", in: "room")
    },
    writing("Retention.init(days:messageCount:)", limit: 36_500) {
      try $0.setRetention(Retention(days: $1))
    },
    writing("Retention.days", limit: 36_500) {
      var rule = Retention()
      rule.days = $1
      try $0.setRetention(rule, of: "room")
    },
    writing("Retention.messageCount", limit: 1_000_000_000) {
      var rule = Retention()
      rule.messageCount = $1
      try $0.setRetention(rule, of: "room")
    },
  ]

  static let composedEdges: [Edge] = [
    writing("StoreWriter.send(_:at:)", limit: lastTime) {
      _ = try $0.send(own("new", in: "room"), at: at($1))
    },
    writing("StoreWriter.setMuted(_:of:until:)", limit: lastTime) {
      _ = try $0.setMuted(true, of: "room", until: at($1))
    },
    calling("MessageStore.reportProgress(_:doneByteCount:of:message:in:)") { store, number in
      try store.write {
        _ = try $0.setTransfer(
          .download, to: .running(doneByteCount: Int64(number)), of: "f", message: "m1",
          in: "room")
      }
      _ = try store.reportProgress(
        .download, doneByteCount: Int64(number), of: "f", message: "m1", in: "room")
      _ = try store.read { try $0.runningTransfers() }
    },
    message(
      "Message.init(id:in:from:text:localTime:serverTimestamp:sequence:status:replyTo:mentions:attachments:)"
    ) {
      $0.serverTimestamp = $0.id == "sent" ? nil : at(3)
      $0.sequence = Int64($1)
    },
    message("Message.serverTimestamp") { $0.serverTimestamp = at($1) },
    message("Message.localTime") { $0.localTime = at($1) },
    message("Message.sequence") { $0.sequence = Int64($1) },
    message("Message.expiresAt") { $0.expiresAt = at($1) },
    message("Message.editedAt") { $0.editedAt = at($1) },
    message("Message.retractedAt") {
      $0.isRetracted = true
      $0.retractedAt = at($1)
    },
    message("Message.deliveredAt") { $0.deliveredAt = at($1) },
    message("Message.readAt") { $0.readAt = at($1) },
    message("Message.retryAt") { $0.retryAt = at($1) },
    message("Message.retryCount") { $0.retryCount = $1 },
    message("SendFailure.init(_:code:text:)") {
      $0.failure = SendFailure(.other, code: Int64($1))
    },
    attachment("MessageAttachment.byteCount") { $0.byteCount = Int64($1) },
    attachment("MessageAttachment.durationMicroseconds") { $0.durationMicroseconds = Int64($1) },
    attachment("MessageAttachment.width") { $0.width = Int32(clamping: $1) },
    attachment("MessageAttachment.height") { $0.height = Int32(clamping: $1) },
    attachment("MessageAttachment.remoteURLAt") {
      $0.remoteURL = "u"
      $0.remoteURLAt = at($1)
    },
    attachment("MessageAttachment.thumbnailURLAt") {
      $0.thumbnailURL = "u"
      $0.thumbnailURLAt = at($1)
    },
    attachment(
      "MessageAttachment.init(id:kind:remoteURL:thumbnailURL:localPath:fileName:mimeType:contentHash:preview:byteCount:durationMicroseconds:width:height:remoteURLAt:thumbnailURLAt:)"
    ) {
      $0 = MessageAttachment(
        id: "a", kind: .video, byteCount: Int64($1), durationMicroseconds: Int64($1),
        width: Int32(clamping: $1), height: Int32(clamping: $1))
    },
  ]

  /// A message with a number in it, received, pending, and sent.
  private static func message(
    _ name: String, _ change: @escaping @Sendable (inout Message, Int) -> Void
  ) -> Edge {
    calling(name, limit: lastTime) { store, number in
      for id in ["received", "pending", "sent"] as [MessageID] {
        var message = own(id, in: "room")
        if id == "received" { message.serverTimestamp = at(4) }
        change(&message, number)
        do {
          try store.write { chat in
            if id == "sent" { _ = try chat.send(message) } else { _ = try chat.insert(message) }
          }
        } catch is StoreError {
          // The other ways are tried, too.
        }
      }
    }
  }

  /// An attachment with a number in it, received and sent.
  private static func attachment(
    _ name: String, _ change: @escaping @Sendable (inout MessageAttachment, Int) -> Void
  ) -> Edge {
    message(name) { message, number in
      var attachment = MessageAttachment(id: "a", kind: .image)
      change(&attachment, number)
      message.attachments = [attachment]
    }
  }
}
