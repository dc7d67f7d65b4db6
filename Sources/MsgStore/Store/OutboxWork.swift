import PageFile

/// Work from the outbox, handed out as it falls due.
///
/// Each iterator takes work for itself: whoever wants to do several things at a time makes several. An
/// item comes under its lease, as from `OutboxWriter.next`, and is on the disk as handed out; how it went
/// is told by `done` or `failed` before the lease expires. While nothing is due the iterator sleeps
/// until something is entered, released or retried, or the time of a wait or a lease has come. It ends
/// with its task and with the store, which it does not keep open.
///
/// What may pass does not end it. While the store is suspended or `poisoned` it waits until that is
/// resumed. After `deviceLocked`, `diskFull`, `ioError`, `busy`, `snapshotExpired`, `limitExceeded`,
/// `aborted` and `commitUnknown` it tries again when something changes, and after pauses from 20
/// milliseconds to two seconds.
public struct OutboxWork: AsyncSequence, Sendable {
  /// One thing to do.
  public typealias Element = OutboxItem
  /// What no waiting mends, and then it ends: `corruptRecord`, `corruptPage` and what else a damaged
  /// or replaced store throws; `readOnly`; `invalidIdentifier` for the owner.
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

  /// Begins to take work.
  public func makeAsyncIterator() -> Iterator { Iterator(self) }

  /// One who takes work, of whose copies one may wait at a time.
  public struct Iterator: AsyncIteratorProtocol {
    private let work: OutboxWork
    private var hasEnded = false

    init(_ work: OutboxWork) { self.work = work }

    /// What is due first, as soon as something is; nil at the end.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(StoreError) -> OutboxItem? {
      var pause = RetryPause()
      while !hasEnded, !Task.isCancelled {
        // It listens before it looks, so that nothing falls between.
        let listener = ChangeListener(work.listeners)
        do throws(StoreError) {
          switch try await Self.look(work.core, work.owner, work.lease) {
          case .item(let item): return item
          case .nothing(let time):
            pause = RetryPause()
            _ = await listener.next(isolation: actor, within: time) {
              $0.isAnything || $0.hasOutboxChanges
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
      /// For how long, if anything waits for its time.
      case nothing(Duration?)
      /// The store is gone.
      case end
    }

    /// Takes what is due.
    private static func look(
      _ core: StoreCore?, _ owner: String, _ lease: Duration
    ) async throws(StoreError) -> Found {
      guard let core else { return .end }
      // Also where nothing is due, which nobody would look into.
      try Identifier.validate("owner", byteCount: owner.utf8.count)
      do {
        // Most who look find nothing, and need not wait for a writer.
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
        preconditionFailure("the closures throw nothing else")
      }
    }
  }
}

extension MessageStore {
  /// Work from the outbox, handed out as it falls due, for as long as the task runs.
  ///
  ///     for try await work in store.work(for: "sync") {
  ///       do {
  ///         try await server.take(work.task, token: work.token)
  ///         try await store.write { try $0.outbox.done(work) }
  ///       } catch {
  ///         _ = try? await store.write { try $0.outbox.failed(work, because: Failure(.noConnection)) }
  ///       }
  ///     }
  ///
  /// Where neither `done` nor `failed` can be stored, as while the store is suspended or the device is
  /// locked, the work comes again when its lease has expired, under the same token.
  ///
  /// - Parameters:
  ///   - owner: Who does it, 1 to 255 bytes, for people and for `OutboxWriter.giveBackAll`.
  ///   - lease: How long an item is theirs without a word from them: a millisecond to a day.
  public func work(for owner: String, lease: Duration = .seconds(60)) -> OutboxWork {
    OutboxWork(self, for: owner, lease: lease)
  }
}

extension StoreCore {
  /// How long it takes until work is due, zero when some is; nil when none waits for its time.
  ///
  /// At most a minute, as the clock may be set meanwhile.
  fileprivate func timeUntilWork() async throws -> Duration? {
    let now = clock()
    guard let time = try await readers.run({ [self] in try read { try $0.outbox.nextTime } }) else {
      return nil
    }
    let (left, isOverflow) = time.microseconds.subtractingReportingOverflow(now.microseconds)
    // No wait and no lease is longer than a day: the clock was set back, and it has ended.
    if left <= 0 || isOverflow || left > OutboxOptions.leaseRange.upperBound { return .zero }
    return min(.microseconds(left), .seconds(60))
  }
}
