import Dispatch
import MsgStore

/// Following changes.
extension MsgStoreEngine {
  func follow(
    _ conversation: Int, count: Int, inserting messages: [ChatMessage]
  ) throws -> [UInt64]? {
    let follower = Follower(engine: self, conversation: conversation, messages: messages)
    let live = try current.thread(ids[conversation]).live(newest: count)
    let isDone = DispatchSemaphore(value: 0)
    Task {
      await follower.run(live)
      isDone.signal()
    }
    isDone.wait()
    return try follower.times.get()
  }
}

/// A writer that also follows the changes it causes.
private final class Follower: @unchecked Sendable {
  // Unchecked: its creator waits until its task is done.
  private let engine: MsgStoreEngine
  private let conversation: Int
  private let messages: [ChatMessage]
  private(set) var times: Result<[UInt64], any Error> = .success([])

  init(engine: MsgStoreEngine, conversation: Int, messages: [ChatMessage]) {
    self.engine = engine
    self.conversation = conversation
    self.messages = messages
  }

  func run(_ live: LiveThread) async {
    do {
      times = .success(try await measure(live))
    } catch {
      times = .failure(error)
    }
  }

  private func measure(_ live: LiveThread) async throws -> [UInt64] {
    var values = live.makeAsyncIterator()
    _ = try await values.next()
    var times: [UInt64] = []
    for message in messages {
      _ = try engine.insert([message])
      guard message.conversation == conversation else { continue }
      let start = nanoseconds()
      let value = try await values.next()
      times.append(nanoseconds() &- start)
      guard value?.slice.last?.id.string == message.id, value?.differences.inserted.count == 1
      else { throw BenchError("msgstore: no change reported for \(message.id)") }
    }
    return times
  }
}
