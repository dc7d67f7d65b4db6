import PageFile

/// Work from the outbox, handed out as it falls due.
///
/// Each iterator takes work of its own: to do several things at a time, make several iterators. An
/// item comes under its lease, as from `OutboxWriter.next`, and the handing out is durable. Report
/// the outcome by `done` or `failed` before the lease expires. While nothing is due, the iterator
/// sleeps until an entry is added, released or retried, or until a wait or a lease ends. The
/// iterator ends with its task and with the store, which it does not keep open.
///
/// Passing conditions do not end the iterator. While the store is suspended or `poisoned`, it waits
/// for the store to be resumed. After `deviceLocked`, `diskFull`, `ioError`, `busy`,
/// `snapshotExpired`, `limitExceeded`, `aborted` and `commitUnknown` it tries again when something
/// changes, and after pauses of 20 milliseconds to two seconds.
public struct OutboxWork: AsyncSequence, Sendable {
  /// A piece of work.
  public typealias Element = OutboxItem
  /// The errors that end an iterator because no waiting helps.
  ///
  /// They are `corruptRecord`, `corruptPage` and the other errors of a damaged or replaced store;
  /// `readOnly`; and `invalidIdentifier` for the owner.
  public typealias Failure = StoreError

  private weak var core: StoreCore?
  private let listeners: ChangeListeners
  private let owner: String
  private let lease: Duration

  init(_ store: MessageStore, for owner: String, lease: Duration) {
    core = store.core
    listeners = store.core.listeners
    self.owner = owner
    self.lease = lease
  }

  /// Returns a new iterator.
  public func makeAsyncIterator() -> Iterator { Iterator(self) }

  /// An iterator that takes work; only one copy of it may await at a time.
  public struct Iterator: AsyncIteratorProtocol {
    private let work: OutboxWork
    private var hasEnded = false

    init(_ work: OutboxWork) { self.work = work }

    /// Waits until work is due and returns the oldest such item; nil at the end.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(StoreError) -> OutboxItem? {
      var pause = RetryPause()
      while !hasEnded, !Task.isCancelled {
        // It listens before it looks, so no change is missed in between.
        let listener = ChangeListener(work.listeners)
        do throws(StoreError) {
          switch try await Self.look(work.core, work.owner, work.lease) {
          case .item(let item): return item
          case .nothing(let time):
            pause = RetryPause()
            _ = await listener.next(isolation: actor, within: time) {
              $0.coversEverything || $0.hasOutboxChanges
            }
          case .end: hasEnded = true
          }
        } catch .storage(.closed) {
          hasEnded = true
        } catch {
          guard error.outlook != .stays else {
            hasEnded = true
            throw error
          }
          hasEnded = await !listener.waitToRetry(after: error, &pause, isolation: actor)
        }
      }
      hasEnded = true
      return nil
    }

    private enum Found {
      case item(OutboxItem)
      /// Nothing is due; the value is the time until the next entry is due, if there is one.
      case nothing(Duration?)
      /// The store has been released.
      case end
    }

    /// Takes the work that is due.
    private static func look(
      _ core: StoreCore?, _ owner: String, _ lease: Duration
    ) async throws(StoreError) -> Found {
      guard let core else { return .end }
      // The owner is checked even if nothing is due, when `next` would not be called.
      try Identifier.validate("owner", byteCount: owner.utf8.count)
      do {
        // Usually nothing is due, and then there is no need to wait for a writer.
        if let time = try await core.timeUntilWork(), time <= .zero,
          let item = try await core.urgentWriter.run({
            try core.write(.full) { try $0.outbox.next(for: owner, lease: lease) }
          })
        {
          return .item(item)
        }
        return .nothing(
          try await core.timeUntilWork().map { time in time > .zero ? time : .milliseconds(1) })
      } catch let error as StoreError {
        throw error
      } catch {
        preconditionFailure("closures: threw an error other than StoreError")
      }
    }
  }
}

extension MessageStore {
  /// Returns the work of the outbox, handed out as it falls due, for as long as the task runs.
  ///
  ///     for try await work in store.work(for: "sync") {
  ///       do {
  ///         try await server.take(work.task, token: work.token)
  ///         try await store.write { try $0.outbox.done(work) }
  ///       } catch {
  ///         _ = try? await store.write {
  ///           try $0.outbox.failed(work, because: SendFailure(.noConnection))
  ///         }
  ///       }
  ///     }
  ///
  /// If neither `done` nor `failed` can be stored, for example while the store is suspended or the
  /// device is locked, the work is handed out again under the same token when its lease has
  /// expired.
  ///
  /// - Parameters:
  ///   - owner: The name of the worker, 1 to 255 bytes, for diagnostics and for
  ///     `OutboxWriter.reclaimWork`.
  ///   - lease: The time before unrenewed work is handed out again, a millisecond to a day.
  public func work(for owner: String, lease: Duration = .seconds(60)) -> OutboxWork {
    OutboxWork(self, for: owner, lease: lease)
  }
}

extension StoreCore {
  /// Returns the time until work is due: zero if some is due now, nil if no entry has a time.
  ///
  /// The result is at most a minute, because the clock may be set meanwhile.
  fileprivate func timeUntilWork() async throws -> Duration? {
    let now = clock()
    guard let time = try await readers.run({ [self] in try read { try $0.outbox.nextTime } }) else {
      return nil
    }
    let (left, isOverflow) = time.microseconds.subtractingReportingOverflow(now.microseconds)
    // No wait and no lease is longer than a day, so the clock was set back and this one has ended.
    if left <= 0 || isOverflow || left > OutboxOptions.leaseRange.upperBound { return .zero }
    return min(.microseconds(left), .seconds(60))
  }
}
