public import MsgStore
public import Observation

/// A part of a thread as a view shows it, kept up to date while `follow()` runs.
///
///     @State var thread = ObservedThread(store.thread(room).live(newest: 50))
///
///     List(thread.messages) { message in Text(message.text) }
///       .task { await thread.follow() }
///
/// A slow view is given the newest state, not each state of a burst of commits. Reading a property
/// costs nothing; a message is created when its row is.
///
/// A view that keeps rows of its own, and animates them, keeps the value that they show, too. Then
/// it does not matter how many values have come since:
///
///     guard let value = thread.value else { return }
///     value.differences(from: shown).apply(to: &rows) { index in Row(value.slice[index]) }
///     shown = value
@MainActor @Observable
public final class ObservedThread {
  /// The messages with their deliveries; nil until the first read.
  public private(set) var value: LiveSlice?
  /// The error that has ended `follow()`, if one has.
  public private(set) var error: StoreError?

  @ObservationIgnored private let live: LiveThread

  /// Creates a thread that shows nothing until `follow()` runs.
  ///
  /// - Parameter live: The part of the thread to follow.
  public init(_ live: LiveThread) { self.live = live }

  /// The messages, oldest first; empty until the first read.
  public var messages: MessageSlice { value?.slice ?? MessageSlice([]) }

  /// The delivery of the local member's messages by index; see `LiveSlice.deliveries`.
  public var deliveries: [Delivery?] { value?.deliveries ?? [] }

  /// The differences of `messages` from what they were before.
  ///
  /// A view that was busy while several values came has missed all but the last of these; see
  /// `LiveSlice.differences(from:)`.
  public var differences: LiveDifferences { value?.differences ?? LiveDifferences() }

  /// True once the messages have been read.
  public var isLoaded: Bool { value != nil }

  /// Shows the messages and each later state of them, until the task is cancelled or the store is
  /// closed.
  ///
  /// Only one call should run at a time; another may follow when it has returned. The messages stay
  /// meanwhile.
  public func follow() async {
    error = nil
    do throws(StoreError) {
      for try await new in live {
        // The task may have been cancelled during the read; another one may show newer messages.
        if Task.isCancelled { return }
        show(new)
      }
    } catch {
      self.error = error
    }
  }

  private func show(_ new: LiveSlice) {
    // The first value of an iterator tells its differences from nothing.
    let differences = new.differences(from: value)
    if value != nil, differences.isEmpty { return }
    value = LiveSlice(
      new.slice, differences: differences, deliveries: new.deliveries, unread: new.unread)
  }

  /// True if there are older messages than those shown, in this store or, beyond a gap, on the
  /// server.
  public var hasOlder: Bool { messages.older.next != nil }

  /// Shows up to `count` older messages as well; see `LiveThread.loadOlder(_:)`.
  public func loadOlder(_ count: Int = 50) { live.loadOlder(count) }

  /// Shows up to `count` newer messages as well; see `LiveThread.loadNewer(_:)`.
  public func loadNewer(_ count: Int = 50) { live.loadNewer(count) }
}
