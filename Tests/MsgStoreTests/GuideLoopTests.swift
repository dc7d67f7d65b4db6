import Damage
import Foundation
import MsgStore
import PageFile
import Testing

/// The loops of the guide are this code, and come through what interrupts them.
@Suite(.timeLimit(.minutes(30))) struct GuideLoopTests {
  /// A server that takes everything, and says which tokens it has seen.
  private actor Server {
    private(set) var tokens: [OutboxToken] = []
    private var isBusy: (@Sendable () async -> Void)?

    /// Says what happens while the next thing is taken.
    func meanwhile(_ body: @escaping @Sendable () async -> Void) { isBusy = body }

    func take(_ task: OutboxTask, in conversation: ConversationID?, token: OutboxToken) async throws
    {
      let body = isBusy
      isBusy = nil
      await body?()
      tokens.append(token)
    }
  }

  private struct Row: Equatable, Sendable {
    let text: String
    let status: MessageStatus
    init(_ message: Message) { (text, status) = (message.text, message.status) }
  }

  private static func send(_ store: MessageStore, _ server: Server) async throws {
    // Sending begins
    for try await work in store.work(for: "sync") {
      do {
        try await server.take(work.task, in: work.conversation, token: work.token)
        try await store.write { chat in try chat.outbox.complete(work) }
      } catch {
        // Where this fails as well, as while the store is suspended, the work comes again when its lease
        // has expired, under the same token.
        _ = try? await store.write { chat in
          try chat.outbox.fail(work, because: SendFailure(.noConnection))
        }
      }
    }
    // Sending ends
  }

  private static func follow(
    _ room: ConversationID, in store: MessageStore, show: ([Row]) -> Void
  ) async throws {
    // Following begins
    var rows: [Row] = []
    for try await value in store.thread(room).live(newest: 50) {
      value.differences.apply(to: &rows) { index in Row(value.slice[index]) }
      show(rows)
    }
    // Following ends
  }

  @Test func theLoopsComeThroughASuspensionAndALockedDevice() async throws {
    let trouble = Trouble()
    let clock = TestClock()
    let store = try trouble.open { clock.now }
    let server = Server()
    let shown = Locked<[Row]>([])
    trouble.onSleep { _ in try? await Task.sleep(for: .milliseconds(1)) }
    let loops = [
      Task { try await Self.send(store, server) },
      Task { try await Self.follow("room", in: store) { rows in shown.withLock { $0 = rows } } },
    ]
    // Time passes while the test waits: when the server's answer could not be stored, the lease or the
    // pause after a failure has to expire, whichever of the two it came to.
    func wait(until isOver: () async -> Bool) async throws {
      while await !isOver() {
        clock.advance(1)
        try await Task.sleep(for: .milliseconds(1))
      }
    }
    func waitUntilSent(_ texts: [String]) async throws {
      try await wait {
        let rows = shown.withLock { $0 }
        return rows.map(\.text) == texts && rows.allSatisfy { $0.status == .sent }
      }
    }
    func waitUntilTaken(minimumCount: Int) async throws {
      try await wait { await server.tokens.count >= minimumCount }
    }
    _ = try await store.send(own("1", "one"))
    try await waitUntilSent(["one"])

    // While both wait.
    try await store.suspend()
    try await store.resume()
    _ = try await store.send(own("2", "two"))
    try await waitUntilSent(["one", "two"])

    // While something is on its way: the store cannot say that it was taken before it is resumed.
    await server.meanwhile { try? await store.suspend() }
    _ = try await store.send(own("3", "three"))
    try await waitUntilTaken(minimumCount: 3)
    try await store.resume()
    try await waitUntilSent(["one", "two", "three"])

    // The same with a device that is locked. How often the third was taken depends on whether the store
    // was resumed before the loop had found it suspended.
    let takenCount = await server.tokens.count
    await server.meanwhile {
      trouble.begin(.deviceLocked(call: "pwrite", path: "store"), [.read, .write, .sync])
    }
    _ = try await store.send(own("4", "four"))
    try await waitUntilTaken(minimumCount: takenCount + 1)
    try await Task.sleep(for: .milliseconds(20))
    trouble.end()
    try await waitUntilSent(["one", "two", "three", "four"])

    let tokens = await server.tokens
    #expect(Set(tokens).count == 4)
    try await store.close()
    for loop in loops { try await loop.value }
  }

  @Test(arguments: ["Sending", "Following"]) func theGuideHasTheSameCode(_ part: String) throws {
    let source = try String(contentsOfFile: #filePath, encoding: .utf8)
    let guide = try String(
      contentsOf: URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("docs/guide.md"), encoding: .utf8)
    let begin = try #require(source.range(of: "    // \(part) begins\n")).upperBound
    let end = try #require(source.range(of: "    // \(part) ends\n")).lowerBound
    let code = source[begin..<end].split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.hasPrefix("    ") ? $0.dropFirst(4) : $0 }.joined(separator: "\n")
    #expect(guide.contains("```swift\n\(code)```\n"))
  }
}
