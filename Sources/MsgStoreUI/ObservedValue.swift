public import MsgStore
public import Observation

/// A value read from a store as a view shows it, kept up to date while `follow()` runs.
///
///     @State var header = ObservedValue(store.conversations.live(room))
@MainActor @Observable
public final class ObservedValue<Value: Equatable & Sendable> {
  /// The value; nil until the first read.
  public private(set) var value: Value?
  /// The error that has ended `follow()`, if one has.
  public private(set) var error: (any Error)?

  @ObservationIgnored private let live: LiveValue<Value>

  /// Creates a value that is nil until `follow()` runs.
  ///
  /// - Parameter live: The value to follow.
  public init(_ live: LiveValue<Value>) { self.live = live }

  /// Shows the value and each later one, until the task is cancelled or the store is closed.
  ///
  /// Only one call should run at a time; another may follow when it has returned.
  public func follow() async {
    error = nil
    do {
      for try await value in live {
        // The task may have been cancelled during the read; another one may show a newer value.
        if Task.isCancelled { return }
        self.value = value
      }
    } catch {
      self.error = error
    }
  }
}
