import Damage
import MsgStore
import PageFile

/// Files that refuse, and time that passes as a test says.
final class Trouble: Sendable {
  private struct State {
    var error: PageFileError?
    var kinds: Set<HookedDirectory.Call.Kind> = []
    var pauses: [Duration] = []
    var onSleep: @Sendable (Int) async -> Void = { _ in }
  }

  private let state = Locked(State())
  let files = MemoryDirectory()

  /// From now on calls of these kinds throw; nil: none does.
  func begin(_ error: PageFileError?, _ kinds: Set<HookedDirectory.Call.Kind> = [.read]) {
    state.withLock { ($0.error, $0.kinds) = (error, kinds) }
  }

  func end() { begin(nil) }

  /// How long whoever follows has slept, each time.
  var pauses: [Duration] { state.withLock { $0.pauses } }

  /// Says how a sleep goes by, the number of which is given: 1 for the first.
  func onSleep(_ body: @escaping @Sendable (Int) async -> Void) {
    state.withLock { $0.onSleep = body }
  }

  private func sleep(_ time: Duration) async {
    let (count, body) = state.withLock { state in
      state.pauses.append(time)
      return (state.pauses.count, state.onSleep)
    }
    await body(count)
  }

  func open(clock: @escaping @Sendable () -> Timestamp = { time(1_000_000) }) throws -> MessageStore
  {
    let directory = HookedDirectory(files) { [self] (call, _) throws(PageFileError) in
      let error = state.withLock { $0.kinds.contains(call.kind) ? $0.error : nil }
      if let error { throw error }
    }
    var options = StoreOptions(localMember: "me", clock: clock).makingConversations
    options.sleep = { [self] time in await sleep(time) }
    return try MessageStore(in: directory, name: "store", options: options)
  }

  /// Until the task is cancelled.
  static let forEver: @Sendable (Int) async -> Void = { _ in
    try? await Task.sleep(for: .seconds(3600))
  }
}
