import PageFile

/// A request whose content is read again when it may have changed.
protocol LiveRequest: Sendable {
  associatedtype Content: Sendable

  /// Reads the current content and notes what is needed to recognise relevant changes.
  mutating func read(_ chat: borrowing StoreSnapshot) throws(StoreError) -> Content

  /// Returns true if the changes may affect the shown content.
  func isConcerned(by changes: StoreChanges, showing content: Content) -> Bool

  /// Returns the differences between two contents; an old content of nil counts as empty.
  static func differences(from old: Content?, to new: Content) -> LiveDifferences
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
struct LiveReader<Request: LiveRequest> {
  typealias Value = (content: Request.Content, differences: LiveDifferences)

  private weak var core: StoreCore?
  private let listener: ChangeListener
  private var request: Request
  /// The last content returned.
  private var content: Request.Content?
  /// True if `content` may be out of date.
  private var isStale = true
  private var hasEnded = false

  init(_ core: StoreCore?, _ listeners: ChangeListeners, _ request: Request) {
    self.core = core
    self.request = request
    listener = ChangeListener(listeners)
  }

  /// Returns the current content once it differs from the previous one; nil at the end.
  mutating func next(
    isolation: isolated (any Actor)?
  ) async throws(StoreError) -> Value? {
    var pause = RetryPause()
    while !hasEnded {
      do throws(StoreError) {
        if isStale {
          guard let new = try await read(isolation: isolation) else { break }
          if let value = value(new) { return value }
        }
        guard let changes = await listener.next(isolation: isolation) else { break }
        isStale = isConcerned(by: changes)
      } catch .storage(.closed) {
        hasEnded = true
      } catch {
        guard error.outlook != .stays else {
          hasEnded = true
          throw error
        }
        // Changes reported meanwhile need no check, since everything is read anew.
        hasEnded = await !listener.waitToRetry(after: error, &pause, isolation: isolation)
      }
    }
    hasEnded = true
    return nil
  }

  /// Returns the current content if it differs from the previous one, without waiting; else nil.
  mutating func nextIfThere() throws(StoreError) -> Value? {
    while let core {
      if isStale, let value = value(try request.read(from: core)) { return value }
      guard let changes = listener.take() else { return nil }
      isStale = isConcerned(by: changes)
    }
    return nil
  }

  /// Returns the value for newly read content; nil if it is unchanged.
  private mutating func value(_ new: Request.Content) -> Value? {
    isStale = false
    let differences = Request.differences(from: content, to: new)
    if content != nil, differences.isEmpty { return nil }
    content = new
    return (new, differences)
  }

  private func isConcerned(by changes: StoreChanges) -> Bool {
    guard let content else { return true }
    return changes.coversEverything || request.isConcerned(by: changes, showing: content)
  }

  /// Reads the content; returns nil if the store is gone.
  ///
  /// The first read may access the disk and runs on one of the store's own threads. Later reads
  /// concern recent commits, which are in memory; switching threads would take longer than reading.
  private mutating func read(
    isolation: isolated (any Actor)?
  ) async throws(StoreError) -> Request.Content? {
    guard let core else { return nil }
    if content != nil { return try request.read(from: core) }
    let request = request
    do {
      let (content, noted) = try await core.readers.run {
        var request = request
        return (try request.read(from: core), request)
      }
      self.request = noted
      return content
    } catch let error as StoreError {
      throw error
    } catch {
      preconditionFailure("the closure throws only StoreError")
    }
  }
}

extension LiveRequest {
  fileprivate mutating func read(from core: StoreCore) throws(StoreError) -> Content {
    do {
      return try core.read { chat in try read(chat) }
    } catch let error as StoreError {
      throw error
    } catch {
      preconditionFailure("the closure throws only StoreError")
    }
  }
}
