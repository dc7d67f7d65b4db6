public import MsgStore
public import Observation

/// The head of the list of conversations as a view shows it, kept up to date while `follow()` runs.
///
///     @State var list = ObservedConversations(store.conversations.live(newest: 50))
///
///     List(list.conversations) { conversation in Text(conversation.title ?? "") }
///       .task { await list.follow() }
///
/// A view that keeps rows of its own takes the differences from the value that they show, as with
/// `ObservedThread`.
@MainActor @Observable
public final class ObservedConversations {
  /// The list; nil until the first read.
  public private(set) var value: LiveConversationSlice?
  /// The error that has ended `follow()`, if one has.
  public private(set) var error: StoreError?

  @ObservationIgnored private let live: LiveConversations

  /// Creates a list that shows nothing until `follow()` runs.
  ///
  /// - Parameter live: The part of the list to follow.
  public init(_ live: LiveConversations) { self.live = live }

  /// The conversations, newest activity first; empty until the first read.
  public var conversations: ConversationSlice { value?.conversations ?? ConversationSlice([]) }

  /// The differences of `conversations` from what they were before.
  ///
  /// A view that was busy while several values came has missed all but the last of these; see
  /// `LiveConversationSlice.differences(from:)`.
  public var differences: LiveDifferences { value?.differences ?? LiveDifferences() }

  /// True once the list has been read.
  public var isLoaded: Bool { value != nil }

  /// Shows the list and each later state of it, until the task is cancelled or the store is closed.
  ///
  /// Only one call should run at a time; another may follow when it has returned. The list stays
  /// meanwhile.
  public func follow() async {
    error = nil
    do throws(StoreError) {
      for try await new in live {
        // The task may have been cancelled during the read; another one may show a newer list.
        if Task.isCancelled { return }
        show(new)
      }
    } catch {
      self.error = error
    }
  }

  private func show(_ new: LiveConversationSlice) {
    // The first value of an iterator tells its differences from nothing.
    let differences = new.differences(from: value)
    if value != nil, differences.isEmpty { return }
    value = LiveConversationSlice(new.conversations, differences: differences)
  }

  /// True if there are more conversations than those shown.
  public var hasOlder: Bool { conversations.older != nil }

  /// Shows up to `count` more conversations; see `LiveConversations.loadOlder(_:)`.
  public func loadOlder(_ count: Int = 50) { live.loadOlder(count) }
}
