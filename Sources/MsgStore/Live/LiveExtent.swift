import PageFile

/// The number of elements by which a live part has been extended on each side.
///
/// All iterators of a sequence share one, so that a caller extends the sequence and not an
/// iterator, which is in use by the task that awaits it.
final class LiveExtent: Sendable {
  private struct State: Sendable {
    var older = 0
    var newer = 0
    var extensionCount = 0
    var listeners: [WeakListener] = []
  }

  private struct WeakListener: Sendable {
    weak let listener: ChangeListener?
  }

  private let state = Locked(State())

  var counts: (older: Int, newer: Int) { state.withLock { ($0.older, $0.newer) } }
  var extensionCount: Int { state.withLock { $0.extensionCount } }

  func attach(_ listener: ChangeListener) {
    state.withLock { state in
      state.listeners.removeAll { $0.listener == nil }
      state.listeners.append(WeakListener(listener: listener))
    }
  }

  func extend(older: Int = 0, newer: Int = 0) {
    let listeners = state.withLock { state in
      state.older = Self.sum(state.older, older)
      state.newer = Self.sum(state.newer, newer)
      state.extensionCount += 1
      return state.listeners
    }
    for weak in listeners { weak.listener?.wake() }
  }

  private static func sum(_ count: Int, _ more: Int) -> Int {
    (count + max(more, 0).clampedRequest).clampedRequest
  }
}
