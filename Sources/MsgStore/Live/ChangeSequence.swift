/// What changes in a store, commit by commit.
///
/// Each iterator begins to listen when it is made and has a place of its own: whoever is slow gets
/// one value, the sum of all that was committed meanwhile, and costs bounded memory. It ends with its
/// task and with the store.
public struct ChangeSequence: AsyncSequence, Sendable {
  /// What one commit, or several, have changed.
  public typealias Element = StoreChanges
  /// It does not fail.
  public typealias Failure = Never

  private let listeners: ChangeListeners

  init(_ listeners: ChangeListeners) { self.listeners = listeners }

  /// Begins to listen.
  ///
  /// What is committed from now on is told, also what is committed before the first value is asked
  /// for: so whoever makes the iterator first and reads afterwards misses nothing.
  public func makeAsyncIterator() -> Iterator { Iterator(ChangeListener(listeners)) }

  /// One listener, of whose copies one may wait at a time.
  public struct Iterator: AsyncIteratorProtocol {
    private let listener: ChangeListener

    init(_ listener: ChangeListener) { self.listener = listener }

    /// What has changed since the value before, as soon as something has; nil at the end.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async -> StoreChanges? {
      await listener.next(isolation: actor)
    }

    /// What has changed since the value before; nil when nothing has.
    package func nextIfThere() -> StoreChanges? { listener.take() }
  }
}

extension MessageStore {
  /// What changes, told after each commit that changes something.
  ///
  /// A value is told when its commit can be read, which may be before it is on the disk; in the order
  /// of commits; and outside of all locks, so whoever listens may read and write. Commits of this
  /// process are told, also those of work that goes on in the background: another process can write
  /// only while this one is suspended, and after `resume` anything may have changed. While nobody
  /// listens it costs nothing.
  ///
  ///     for await changes in store.changes {
  ///       if changes.conversations[room] != nil { … }
  ///     }
  public var changes: ChangeSequence { ChangeSequence(core.listeners) }

  /// How many listen.
  package var listenerCount: Int { core.listeners.count }
}
