public import MsgStore
public import Observation

/// The head of the list of conversations as a view shows it, kept up to date while `follow()` runs.
///
///     @State var list = ObservedConversations(store.conversations.live(newest: 50))
///
///     List(list.conversations) { conversation in Text(conversation.title ?? "") }
///       .task { await list.follow() }
@MainActor @Observable
public final class ObservedConversations {
  /// The conversations, newest activity first; empty until the first read.
  public private(set) var conversations = ConversationSlice([])
  /// The differences from the list shown before, for views that animate them by themselves.
  public private(set) var differences = LiveDifferences()
  /// True once the list has been read.
  public private(set) var isLoaded = false
  /// The error that has ended `follow()`, if one has.
  public private(set) var error: StoreError?

  @ObservationIgnored private let live: LiveConversations

  /// Creates a list that shows nothing until `follow()` runs.
  ///
  /// - Parameter live: The part of the list to follow.
  public init(_ live: LiveConversations) { self.live = live }

  /// Shows the list and each later state of it, until the task is cancelled or the store is closed.
  ///
  /// Only one call should run at a time; another may follow when it has returned.
  public func follow() async {
    error = nil
    do throws(StoreError) {
      for try await value in live {
        conversations = value.conversations
        differences = value.differences
        isLoaded = true
      }
    } catch {
      self.error = error
    }
  }

  /// True if there are more conversations than those shown.
  public var hasOlder: Bool { conversations.older != nil }

  /// Shows up to `count` more conversations; see `LiveConversations.loadOlder(_:)`.
  public func loadOlder(_ count: Int = 50) { live.loadOlder(count) }
}
