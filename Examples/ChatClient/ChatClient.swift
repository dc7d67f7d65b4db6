public import MsgStore

/// A chat client without a screen: a store, a server, and what goes on between the two.
///
/// What the user does goes into the store alone, also without a connection: `store.write` and
/// `store.send` enter it into the outbox in the same commit. What the user sees comes from the store
/// alone. So nothing here is in memory that a crash could take: whoever starts again opens the store
/// and goes on.
public final class ChatClient: Sendable {
  /// What the user sees, and where the user writes.
  public let store: MessageStore
  /// Whose client it is.
  public let member: MemberID
  let transport: any Transport
  /// Where fetched files lie: beside the store.
  let filesPath: String
  let log: @Sendable (String) -> Void

  /// Who takes work out of the outbox.
  ///
  /// One name for all lives of this process: a later one knows by it what the one before has left.
  let owner = "sync"
  /// What the store keeps the place in the server's news under.
  let newsKey = "news"

  /// Opens a store, or makes it, for somebody who talks to a server.
  ///
  /// - Parameters:
  ///   - path: The store.
  ///   - member: Whose it is.
  ///   - transport: How the server is reached.
  ///   - clock: The device's clock.
  ///   - log: Told what the client fetches by itself.
  public init(
    path: String, member: MemberID, transport: any Transport,
    clock: @escaping @Sendable () -> Timestamp = StoreOptions.systemClock,
    log: @escaping @Sendable (String) -> Void = { _ in }
  ) throws {
    store = try MessageStore(
      path: path, options: StoreOptions(localMember: member, clock: clock))
    self.member = member
    self.transport = transport
    filesPath = path + "-files"
    self.log = log
    // There is one such process, as a store has one owner. So what was handed out before is nobody's
    // now, and need not wait until its lease expires. Whether the server has it is unknown; its token
    // tells.
    let owner = owner
    try store.write { chat in _ = try chat.outbox.reclaimWork(of: owner) }
  }

  /// Says something.
  ///
  /// It returns when the message can be seen, in microseconds. Who wants to show a second mark when it
  /// is on the disk awaits `waitUntilDurable()` of the result; to send it nobody has to.
  @discardableResult
  public func say(
    _ text: String, in room: ConversationID, replyTo: MessageID? = nil,
    attachments: [MessageAttachment] = []
  ) throws -> PendingCommit<Message> {
    try store.send(
      Message(in: room, from: member, text: text, replyTo: replyTo, attachments: attachments))
  }

  /// Takes in what is new, tells the server what is due, and takes in what that has led to.
  ///
  /// One task at a time calls this.
  ///
  /// - Returns: False if the server could not be reached.
  /// - Throws: Errors of the store, and `BadAnswer`.
  @discardableResult
  public func sync() async throws -> Bool {
    guard try await takeNews() else { return false }
    guard try await tellAll() else { return false }
    guard try await takeNews() else { return false }
    // Only now: all that was told is here, so what is missing will not come by itself.
    guard try await fillGaps() else { return false }
    return try await downloadAll()
  }

  /// Goes on until the task is cancelled: as long as an app is in the foreground.
  ///
  /// - Parameter isOver: Asked after each round.
  public func run(until isOver: @Sendable () throws -> Bool = { false }) async throws {
    // However often it is woken during a round, one more round is enough.
    let (wakeUps, bell) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      defer { tasks.cancelAll() }
      tasks.addTask { [store] in
        // Somebody has written something.
        for await changes in store.changes where changes.hasOutboxChanges { bell.yield() }
      }
      tasks.addTask {
        // There may be news, or the time may have come for another attempt. Where the server rings when
        // there are news, `for try await work in store.work(for: owner)` waits for the rest.
        while !Task.isCancelled {
          bell.yield()
          try? await Task.sleep(for: .milliseconds(20))
        }
      }
      var wasConnected = true
      for await _ in wakeUps {
        let isConnected = try await sync()
        if isConnected, !wasConnected {
          // What waits for its next attempt waits for a connection, and there is one again.
          try await store.write { chat in _ = try chat.outbox.retryAll() }
        }
        wasConnected = isConnected
        if try isOver() { return }
      }
    }
  }
}
