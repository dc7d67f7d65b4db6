import PageFile

/// Work from the outbox, handed out as it falls due.
///
/// Each iterator takes work of its own: to do several things at a time, make several iterators. An
/// item comes under its lease, as from `OutboxWriter.next`, and the handing out is durable. Report
/// the outcome by `complete` or `fail` before the lease expires. While nothing is due, the iterator
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
  /// `readOnly`; `input(.identifier)` for the owner, and `input(.count)` for a count below 1.
  public typealias Failure = StoreError

  private weak var core: StoreCore?
  private let listeners: ChangeListeners
  private let owner: String
  private let lease: Duration
  private let maximumCount: Int

  init(_ store: MessageStore, for owner: String, lease: Duration, maximumCount: Int = 1) {
    core = store.core
    listeners = store.core.listeners
    self.owner = owner
    self.lease = lease
    self.maximumCount = maximumCount
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
      try await nextRun(isolation: actor).first
    }

    /// Waits until work is due and returns a run of it; an empty array at the end.
    mutating func nextRun(
      isolation actor: isolated (any Actor)?
    ) async throws(StoreError) -> [OutboxItem] {
      var pause = RetryPause()
      while !hasEnded, !Task.isCancelled {
        // It listens before it looks, so no change is missed in between.
        let listener = ChangeListener(work.listeners)
        do throws(StoreError) {
          switch try await Self.look(work) {
          case .items(let items): return items
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
      return []
    }

    private enum Found {
      case items([OutboxItem])
      /// Nothing is due; the value is the time until the next entry is due, if there is one.
      case nothing(Duration?)
      /// The store has been released.
      case end
    }

    /// Takes the work that is due.
    private static func look(_ work: OutboxWork) async throws(StoreError) -> Found {
      guard let core = work.core else { return .end }
      let (owner, lease) = (work.owner, work.lease)
      // The owner is checked even if nothing is due, when `next` would not be called.
      try Identifier.validate("owner", byteCount: owner.utf8.count)
      let maximumCount = try work.maximumCount.validatedRequest()
      do {
        try await core.reclaimWorkLeft(by: owner)
        // Usually nothing is due, and then there is no need to wait for a writer.
        if let time = try await core.timeUntilWork(), time <= .zero {
          let items = try await core.writeAndAwaitSync(.full) {
            try $0.outbox.next(for: owner, maximumCount: maximumCount, lease: lease)
          }
          if !items.isEmpty { return .items(items) }
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

/// Work from the outbox, handed out as it falls due, in runs of messages of one conversation.
///
/// Each element is what `OutboxWriter.next(for:maximumCount:lease:)` hands out. The iterators wait,
/// go on, and end as those of `OutboxWork` do.
public struct OutboxRuns: AsyncSequence, Sendable {
  /// A run of work, which has at least one item.
  public typealias Element = [OutboxItem]
  /// The errors that end an iterator; see `OutboxWork.Failure`.
  public typealias Failure = StoreError

  private let work: OutboxWork

  init(_ work: OutboxWork) { self.work = work }

  /// Returns a new iterator.
  public func makeAsyncIterator() -> Iterator { Iterator(work.makeAsyncIterator()) }

  /// An iterator that takes runs of work; only one copy of it may await at a time.
  public struct Iterator: AsyncIteratorProtocol {
    private var work: OutboxWork.Iterator

    init(_ work: OutboxWork.Iterator) { self.work = work }

    /// Waits until work is due and returns a run of it; nil at the end.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(StoreError) -> [OutboxItem]? {
      let run = try await work.nextRun(isolation: actor)
      return run.isEmpty ? nil : run
    }
  }
}

extension MessageStore {
  /// Returns the work of the outbox in runs, for a server that takes several messages at once.
  ///
  /// A run is one item or several messages of one conversation in their order; see
  /// `OutboxWriter.next(for:maximumCount:lease:)`. All else is as by `work(for:lease:)`.
  ///
  /// - Parameters:
  ///   - owner: The name of the worker, 1 to 255 bytes.
  ///   - maximumCount: The maximum number of items in a run, 1 or more; at most 256 are handed out.
  ///   - lease: The time before unrenewed work is handed out again, a millisecond to a day.
  public func work(
    for owner: String, maximumCount: Int, lease: Duration = .seconds(60)
  ) -> OutboxRuns {
    OutboxRuns(OutboxWork(self, for: owner, lease: lease, maximumCount: maximumCount))
  }

  /// Returns the work of the outbox, handed out as it falls due, for as long as the task runs.
  ///
  ///     for try await work in store.work(for: "sync") {
  ///       do {
  ///         try await server.take(work.task, token: work.token)
  ///         try await store.write { try $0.outbox.complete(work) }
  ///       } catch {
  ///         _ = try? await store.write {
  ///           try $0.outbox.fail(work, because: SendFailure(.noConnection))
  ///         }
  ///       }
  ///     }
  ///
  /// Work that this owner had before the store was opened, as when its process was killed, is
  /// reclaimed at once and handed out again, under the same token. If neither `complete` nor `fail`
  /// can be stored, for example while the store is suspended or the device is locked, the work is
  /// handed out again when its lease has expired, or after `OutboxWriter.reclaimWork`.
  ///
  /// An upload that goes on without the process needs an owner of its own, which takes work by
  /// `OutboxWriter.next`.
  ///
  /// - Parameters:
  ///   - owner: The name of the worker, 1 to 255 bytes, for diagnostics and for
  ///     `OutboxWriter.reclaimWork`.
  ///   - lease: The time before unrenewed work is handed out again, a millisecond to a day.
  public func work(for owner: String, lease: Duration = .seconds(60)) -> OutboxWork {
    OutboxWork(self, for: owner, lease: lease)
  }
}

/// The leases that workers got since the store was opened.
struct Workers {
  private var firstLease: UInt64?
  private var owners: Set<[UInt8]> = []

  /// Notes a lease that was given; later ones have greater numbers.
  mutating func noteLease(_ lease: UInt64) { firstLease = min(firstLease ?? lease, lease) }

  /// Returns the end of the leases that an owner may have from before the store was opened.
  ///
  /// Returns nil if they have been reclaimed already.
  func leasesLeft(by owner: String) -> UInt64? {
    owners.contains(Array(owner.utf8)) ? nil : firstLease ?? .max
  }

  /// Notes that the work left behind by an owner was reclaimed.
  mutating func noteReclaimed(of owner: String) { owners.insert(Array(owner.utf8)) }
}

extension StoreCore {
  /// Reclaims, once, the work that an owner had before the store was opened.
  fileprivate func reclaimWorkLeft(by owner: String) async throws {
    guard workers.withLock({ $0.leasesLeft(by: owner) }) != nil else { return }
    let isAnyLeft = try await followers.run { [self] in
      try read { chat in
        try chat.access.read { (view) in
          let totals = view.source.outboxTotals
          // See `OutboxAnswers.reclaimWork`.
          return totals.counts.running > 0 || totals.hasSteps
        }
      }
    }
    if isAnyLeft {
      try await urgentWriter.run { [self] in
        try write(.relaxed) { chat in
          guard let end = workers.withLock({ $0.leasesLeft(by: owner) }) else { return }
          let answers = chat.transaction.outboxAnswers
          _ = try chat.transaction.perform(try answers.reclaimWork(of: owner, before: end))
        }
      }
    }
    workers.withLock { $0.noteReclaimed(of: owner) }
  }

  /// Returns the time until work is due: zero if some is due now, nil if no entry has a time.
  ///
  /// The result is at most a minute, because the clock may be set meanwhile.
  fileprivate func timeUntilWork() async throws -> Duration? {
    try await followers.run { [self] in
      try read { chat in
        // Asked within the read, as nobody asks the clock of a closed store.
        let now = clock().microseconds
        return try chat.access.read { (view) throws(StoreError) in
          guard let next = try view.outbox.firstTime() else { return nil }
          if try view.outbox.seemingDue(at: now) != nil { return .zero }
          let (left, isOverflow) = next.subtractingReportingOverflow(now)
          if next <= now { return .zero }
          return isOverflow ? .seconds(60) : min(.microseconds(left), .seconds(60))
        }
      }
    }
  }
}
