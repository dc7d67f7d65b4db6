/// The changes of a store, commit by commit.
///
/// Each iterator listens from its creation and has its own position. A slow one gets a single
/// value, the sum of all commits since, and costs bounded memory. The sequence ends with its task
/// and with the store.
public struct ChangeSequence: AsyncSequence, Sendable {
  /// The changes of one or more commits.
  public typealias Element = StoreChanges
  /// The sequence never fails.
  public typealias Failure = Never

  private let listeners: ChangeListeners

  init(_ listeners: ChangeListeners) { self.listeners = listeners }

  /// Starts listening.
  ///
  /// Reports all commits from now on, including those made before the first value is requested.
  /// Nothing is missed by creating the iterator first and reading the store afterwards.
  public func makeAsyncIterator() -> Iterator { Iterator(ChangeListener(listeners)) }

  /// An iterator, whose copies share one listener; only one of them may await at a time.
  public struct Iterator: AsyncIteratorProtocol {
    private let listener: ChangeListener

    init(_ listener: ChangeListener) { self.listener = listener }

    /// Returns the changes since the previous value, once there are any; nil at the end.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async -> StoreChanges? {
      await listener.next(isolation: actor)
    }

    /// Returns the changes since the previous value; nil if nothing changed.
    package func nextIfThere() -> StoreChanges? { listener.take() }
  }
}

extension MessageStore {
  /// The changes of the store, reported after each commit that changes something.
  ///
  /// A value is reported when its commit can be read, which may be before the commit is on disk.
  /// Values arrive in the order of commits and outside of all locks, so a listener may read and
  /// write. Commits of this process are reported, including those of background work. Another
  /// process can write only while this one is suspended, and after `resume` anything may have
  /// changed. Without listeners this costs nothing.
  ///
  ///     for await changes in store.changes {
  ///       if changes.conversations[room] != nil { … }
  ///     }
  public var changes: ChangeSequence { ChangeSequence(core.listeners) }

  /// The number of listeners.
  package var listenerCount: Int { core.listeners.count }
}
