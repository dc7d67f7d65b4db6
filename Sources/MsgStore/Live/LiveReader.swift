import PageFile

/// A request whose content is read again when it may have changed.
protocol LiveRequest: Sendable {
  associatedtype Content: Sendable
  /// The differences between two contents, as reported to listeners.
  associatedtype Differences
  associatedtype Failure: Error

  /// The number of times that the part to read has been extended.
  var extensionCount: Int { get }

  /// Reads the current content and notes what is needed to recognise relevant changes.
  mutating func read(_ chat: borrowing StoreSnapshot) throws(Failure) -> Content

  /// Returns true if the changes may affect the shown content.
  func isConcerned(by changes: StoreChanges, showing content: Content) -> Bool

  /// Returns true if reading again may take so long that it is not done on the caller's thread.
  func isSlow(showing content: Content) -> Bool

  /// Returns the differences between two contents, or nil if they are equal; an old content of nil
  /// counts as empty.
  static func differences(from old: Content?, to new: Content) -> Differences?

  /// Converts an error of the store, or one that `read` has thrown.
  static func failure(_ error: any Error) -> Failure

  /// Makes the listener be woken when the part to read is extended.
  func attach(_ listener: ChangeListener)
}

extension LiveRequest {
  var extensionCount: Int { 0 }
  func attach(_ listener: ChangeListener) {}
  func isSlow(showing content: Content) -> Bool { false }
}

extension LiveRequest where Failure == StoreError {
  static func failure(_ error: any Error) -> StoreError {
    guard let error = error as? StoreError else {
      preconditionFailure("the closure throws only StoreError")
    }
    return error
  }
}

/// A reader that repeats a request when its content may have changed.
///
/// 1. It listens before the first read, so that no change is missed.
/// 2. Differences come from comparing the last value returned with the current content. Reported
///    changes only decide when to look, so a value is right however incomplete or summarised they
///    are.
/// 3. It does not keep the store open.
/// 4. A temporary failure does not end it: it reads again after a pause, and as soon as something
///    changes or the store is resumed.
/// 5. Each value is read after all commits that were reported by then. A caller that is slower than
///    the writer is therefore shown the last state of a burst of commits, not each.
struct LiveReader<Request: LiveRequest> {
  typealias Value = (content: Request.Content, differences: Request.Differences)

  private weak var core: StoreCore?
  private let listener: ChangeListener
  private var request: Request
  /// The last content returned.
  private var content: Request.Content?
  /// True if `content` may be out of date.
  private var isStale = true
  /// True if what `content` shows may have to be read from the disk.
  private var mayNeedDisk = true
  /// The extensions of the part to read that `content` shows.
  private var extensionCount = 0
  private var hasEnded = false

  init(_ core: StoreCore?, _ listeners: ChangeListeners, _ request: Request) {
    self.core = core
    self.request = request
    listener = ChangeListener(listeners)
    request.attach(listener)
  }

  /// Returns the current content once it differs from the previous one; nil at the end.
  mutating func next(
    isolation: isolated (any Actor)?
  ) async throws(Request.Failure) -> Value? {
    var pause = RetryPause()
    while !hasEnded {
      do {
        if isStale || extensionCount != request.extensionCount {
          guard let new = try await read(isolation: isolation) else { break }
          if let value = value(new) { return value }
        }
        switch await listener.next(isolation: isolation, within: nil) {
        case .changes(let changes):
          isStale = isConcerned(by: changes)
          if changes.coversEverything { mayNeedDisk = true }
        case .nothing: continue
        case .ended: hasEnded = true
        }
      } catch StoreError.storage(.closed) {
        hasEnded = true
      } catch {
        guard let fault = error as? StoreError, fault.outlook != .stays else {
          hasEnded = true
          throw Request.failure(error)
        }
        // Changes reported meanwhile need no check, since everything is read anew.
        (isStale, mayNeedDisk) = (true, true)
        hasEnded = await !listener.waitToRetry(after: fault, &pause, isolation: isolation)
      }
    }
    hasEnded = true
    return nil
  }

  /// Returns the current content if it differs from the previous one, without waiting; else nil.
  mutating func nextIfThere() throws -> Value? {
    while let core {
      if isStale || extensionCount != request.extensionCount {
        extensionCount = request.extensionCount
        if let value = value(try request.read(from: core)) { return value }
      }
      guard let changes = listener.take() else { return nil }
      isStale = isConcerned(by: changes)
    }
    return nil
  }

  /// Returns the value for newly read content; nil if it is unchanged.
  private mutating func value(_ new: Request.Content) -> Value? {
    isStale = false
    guard let differences = Request.differences(from: content, to: new) else { return nil }
    content = new
    return (new, differences)
  }

  private func isConcerned(by changes: StoreChanges) -> Bool {
    guard let content else { return true }
    return changes.coversEverything || request.isConcerned(by: changes, showing: content)
  }

  /// Reads the content; returns nil if the store is gone.
  ///
  /// Reads that may access the disk run on one of the store's own threads: the first one, those
  /// after an extension, which go to older messages, and those after a resumption or an error. So
  /// do those that count the receipts of a large group. Other reads concern recent commits, which
  /// are in memory; switching threads would take longer than reading.
  private mutating func read(
    isolation: isolated (any Actor)?
  ) async throws -> Request.Content? {
    guard let core else { return nil }
    let isExtended = extensionCount != request.extensionCount
    // Taken before the read, so that an extension meanwhile is not missed.
    extensionCount = request.extensionCount
    if let content, !isExtended, !mayNeedDisk, !request.isSlow(showing: content) {
      return try request.read(from: core)
    }
    let request = request
    let (content, noted) = try await core.followers.run {
      var request = request
      return (try request.read(from: core), request)
    }
    self.request = noted
    mayNeedDisk = false
    return content
  }
}

extension LiveRequest {
  @inline(never)
  fileprivate mutating func read(from core: StoreCore) throws -> Content {
    try core.read { chat in try read(chat) }
  }
}
