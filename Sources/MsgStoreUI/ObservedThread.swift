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
@MainActor @Observable
public final class ObservedThread {
  /// The messages, oldest first; empty until the first read.
  public private(set) var messages = MessageSlice([])
  /// The delivery of the local member's messages by index; see `LiveSlice.deliveries`.
  public private(set) var deliveries: [Delivery?] = []
  /// The differences from the messages shown before, for views that animate them by themselves.
  public private(set) var differences = LiveDifferences()
  /// True once the messages have been read.
  public private(set) var isLoaded = false
  /// The error that has ended `follow()`, if one has.
  public private(set) var error: StoreError?

  @ObservationIgnored private let live: LiveThread

  /// Creates a thread that shows nothing until `follow()` runs.
  ///
  /// - Parameter live: The part of the thread to follow.
  public init(_ live: LiveThread) { self.live = live }

  /// Shows the messages and each later state of them, until the task is cancelled or the store is
  /// closed.
  ///
  /// Only one call should run at a time; another may follow when it has returned.
  public func follow() async {
    error = nil
    do throws(StoreError) {
      for try await value in live {
        messages = value.slice
        deliveries = value.deliveries
        differences = value.differences
        isLoaded = true
      }
    } catch {
      self.error = error
    }
  }

  /// True if there are older messages than those shown, in this store or, beyond a gap, on the
  /// server.
  public var hasOlder: Bool { messages.older.next != nil }

  /// Shows up to `count` older messages as well; see `LiveThread.loadOlder(_:)`.
  public func loadOlder(_ count: Int = 50) { live.loadOlder(count) }

  /// Shows up to `count` newer messages as well; see `LiveThread.loadNewer(_:)`.
  public func loadNewer(_ count: Int = 50) { live.loadNewer(count) }
}
