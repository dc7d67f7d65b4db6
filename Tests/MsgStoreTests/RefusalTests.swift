import Damage
import MsgStore
import PageFile
import Synchronization
import Testing

/// What is refused changes nothing, also for somebody who goes on in the same closure; what fails
/// in the middle cannot be committed.
struct RefusalTests {
  typealias Act = @Sendable (borrowing StoreWriter) throws -> Void

  struct Refusal: Sendable, CustomTestStringConvertible {
    let name: String
    let act: Act
    var testDescription: String { name }

    init(_ name: String, _ act: @escaping Act) {
      self.name = name
      self.act = act
    }
  }

  static let long = String(repeating: "x", count: 300)
  static let huge = String(repeating: "x", count: (1 << 20) + 1)
  static let crowd = (0...10_000).map { MemberID("new-\($0)") }

  static func attached(_ attachment: MessageAttachment) -> Message {
    var message = own("new", in: "g")
    message.attachments = [attachment]
    return message
  }

  static func mentioning(_ count: Int) -> [MemberID] {
    (0..<count).map { MemberID("mentioned-\($0)") }
  }

  static let refusals = composing + conversations + outbox + received

  static func entry(
    _ kind: OutboxKind, _ chat: borrowing StoreWriter
  ) throws -> OutboxEntry.ID {
    let all = try chat.outbox.entries(count: 1000).entries
    return try #require(all.last { $0.kind == kind && $0.state == .queued }).id
  }

  static func running(_ chat: borrowing StoreWriter) throws -> OutboxEntry.ID {
    let all = try chat.outbox.entries(count: 1000).entries
    return try #require(
      all.first { if case .running = $0.state { true } else { false } }
    ).id
  }

  /// A store with something of everything that can be refused.
  private func filled(
    _ directory: any StorageDirectory = MemoryDirectory()
  ) throws -> MessageStore {
    let day: Int64 = 86_400_000_000
    let store = try open(directory)
    try store.write { chat in
      _ = try chat.putConversation("g", participants: ["me", "ann", "bob"])
      _ = try chat.putConversation("left", participants: ["me", "ann", "bob"])
      _ = try chat.putConversation("direct", participants: ["me", "ann"])
      for room in ["g", "left"] as [ConversationID] {
        try chat.insert(chatMessage("old", in: room, at: 10, from: "me"))
        try chat.insert(chatMessage("theirs", in: room, at: 2 * day))
        try chat.insert(chatMessage("mine", in: room, at: 2 * day + 1, from: "me"))
        try chat.insert(chatMessage("erased", in: room, at: 2 * day + 2, from: "me"))
        try chat.insert(chatMessage("newest", in: room, at: 2 * day + 3))
      }
      _ = try chat.receiveRetraction(of: "erased", in: "g")
      _ = try chat.leave("left")
      var message = own("files", in: "g")
      message.attachments = [
        MessageAttachment(id: "f", kind: .image, byteCount: 10),
        MessageAttachment(id: "big", kind: .image, byteCount: 5_000_000),
      ]
      try chat.send(message)
      try chat.send(own("runs", in: "direct"))
    }
    let (leaving, upload) = (try store.take(), try store.take())
    #expect(try store.take().name == "send runs")
    try store.done(leaving)
    try store.write { chat in
      try chat.outbox.returnWork(upload)
      try chat.send(own("queued", in: "g"))
    }
    return store
  }

  private func open(
    _ directory: any StorageDirectory
  ) throws -> MessageStore {
    var options = StoreOptions(localMember: "me", clock: { time(1_000_000_000) })
    options.worksInBackground = false
    options.attachmentLimits = .tight
    options.attachmentLimits.rules[.video] = .init(mimeTypes: ["video/mp4"])
    return try MessageStore(in: directory, name: "store", options: options)
  }

  /// What can be read of a store, but for tokens, which are chance.
  private func picture(_ store: MessageStore, tail: Int = 100) throws -> [String] {
    try store.read { chat in
      var lines: [String] = []
      for room in try chat.conversations(count: 100) {
        lines.append("\(room.id) \(room.title ?? "-") \(room.participants) \(room.unreadCount)")
        for message in try chat.thread(room.id).tail(tail) {
          lines.append("\(message.id) \(message.text) \(message.status) \(message.attachments)")
        }
        lines.append("\(try chat.draft(of: room.id)?.text ?? "-")")
      }
      return lines + (try chat.outbox.entries(count: 1000).entries.map(\.line))
    }
  }

  @Test func whatIsRefusedWritesNothing() throws {
    let store = try filled()
    let before = try picture(store)
    for refusal in Self.refusals {
      let hasCommitted = try store.commits { chat in
        #expect(throws: StoreError.self, "\(refusal.name)") { try refusal.act(chat) }
      }
      #expect(!hasCommitted, "\(refusal.name)")
    }
    #expect(try picture(store) == before)
    try store.expectSound()
  }

  @Test func whoGoesOnAfterRefusalsHasWhatTheyAskedFor() throws {
    let (store, plain) = (try filled(), try filled())
    #expect(try picture(store) == picture(plain))
    let last: Act = { chat in
      try chat.send(own("last", in: "g"))
      _ = try chat.setTitle("Title", of: "g")
    }
    try store.write { chat in
      for refusal in Self.refusals {
        #expect(throws: StoreError.self, "\(refusal.name)") { try refusal.act(chat) }
      }
      try last(chat)
      for refusal in Self.refusals {
        #expect(throws: StoreError.self, "\(refusal.name)") { try refusal.act(chat) }
      }
    }
    try plain.write { try last($0) }
    #expect(try picture(store) == picture(plain))
    try store.expectSound()
  }

  @Test func oneEditTooManyGivesNobodyANumber() throws {
    let store = try TestClock().store { $0.outbox.isEnabled = false }
    try store.write { chat in
      try chat.insert(chatMessage("m", in: "g", at: 1, from: "me"))
      for index in 0..<1000 { _ = try chat.edit("m", in: "g", text: "edit \(index)") }
    }
    #expect(
      try !store.commits { chat in
        #expect(throws: StoreError.message(.tooManyPendingEdits, "m", in: "g")) {
          try chat.edit("m", in: "g", text: "one more", mentions: ["new-one"])
        }
      })
  }

  @Test func nothingIsDoneInTheNameOfNobody() throws {
    let store = try memoryStore(localMember: nil)
    try store.write { try $0.insert(chatMessage("m", in: "g", at: 1)) }
    let acts: [Act] = [
      { _ = try $0.send(own("new", in: "new")) },
      { _ = try $0.edit("m", in: "g", text: "x", mentions: ["new-one"]) },
      { _ = try $0.retract("m", in: "g") },
      { _ = try $0.react("👍", to: "m", in: "g") },
      { _ = try $0.leave("g") },
    ]
    for act in acts {
      #expect(
        try !store.commits { chat in
          #expect(throws: StoreError.noLocalMember) { try act(chat) }
        })
    }
  }

  /// Reading a page fails once, somewhere in an act, and the closure goes on as if nothing had
  /// been.
  @Test func whatFailsInTheMiddleCannotBeCommitted() throws {
    let files = MemoryDirectory()
    let store = try filled(files)
    try store.write(.relaxed) { chat in
      for index in 0..<300 {
        let text = String(repeating: "word \(index) ", count: 12)
        try chat.insert(
          chatMessage(
            MessageID("m\(index)"), in: ConversationID("c\(index % 10)"), at: Int64(index),
            text: text))
      }
    }
    try store.close()
    let acts: [Act] = [
      { try $0.send(own("last", in: "g")) },
      { _ = try $0.setTitle("Title", of: "c7") },
      { _ = try $0.edit("mine", in: "g", text: "other", mentions: ["new-one"]) },
      { _ = try $0.deleteConversation("c3") },
      { _ = try $0.renameConversation("c4", to: "c5") },
      { _ = try $0.outbox.next(for: "w") },
      {
        _ = try $0.insert(
          contentsOf: (0..<9).map { chatMessage(MessageID("n\($0)"), in: "c9", at: Int64($0)) })
      },
    ]
    let whole = try open(files.copy())
    let before = try picture(whole, tail: 2)
    try whole.close()
    var failureCount = 0
    for (index, act) in acts.enumerated() {
      for first in 1...4 {
        let reads = Mutex(0)
        let copy = HookedDirectory(files.copy()) { (call, _) throws(PageFileError) in
          guard call.kind == .read else { return }
          let isFailing = reads.withLock { count in
            guard count > 0 else { return false }
            count += 1
            return count == first + 1
          }
          if isFailing { throw .ioError(call: "pread", errno: 5, path: call.name) }
        }
        // Nothing is in its cache yet.
        let store = try open(copy)
        var hasFailed = false
        reads.withLock { $0 = 1 }
        do {
          try store.write { chat in
            do { try act(chat) } catch StoreError.storage { hasFailed = true }
            reads.withLock { $0 = 0 }
            do { try chat.setSyncPosition([1], for: "x") } catch StoreError.storage {}
          }
          #expect(!hasFailed, "act \(index), read \(first): committed")
        } catch StoreError.storage {
          reads.withLock { $0 = 0 }
          failureCount += 1
          #expect(try picture(store, tail: 2) == before, "act \(index), read \(first)")
        }
        try store.expectSound()
        try store.close()
      }
    }
    #expect(failureCount > 10)
  }
}
