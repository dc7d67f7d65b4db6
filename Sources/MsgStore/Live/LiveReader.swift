import PageFile

/// What is read again when it may have changed.
protocol LiveRequest: Sendable {
  associatedtype Content: Sendable

  /// Reads what is there now, and notes what it takes to know what concerns it.
  mutating func read(_ chat: borrowing StoreSnapshot) throws(StoreError) -> Content

  /// Whether what has changed may make what is shown another.
  func isConcerned(by changes: StoreChanges, showing content: Content) -> Bool

  /// nil: what was shown before is nothing.
  static func differences(from old: Content?, to new: Content) -> LiveDifferences
}

/// Reads again what has changed.
///
///  1. It listens before it reads the first time, so that nothing falls between.
///  2. Differences come from comparing what was given out last with what is there now. So what is told
///     of changes decides only whether to look: whatever it lacks or sums up, a value is right.
///  3. It does not keep the store from ending.
///  4. A failure that may pass does not end it: it reads again after a pause, and as soon as something
///     has changed or the store is resumed.
struct LiveReader<Request: LiveRequest> {
  typealias Value = (content: Request.Content, differences: LiveDifferences)

  private weak var core: StoreCore?
  private let listener: ChangeListener
  private var request: Request
  /// What was given out last.
  private var content: Request.Content?
  /// Whether that may differ from what is there.
  private var isStale = true
  private var hasEnded = false

  init(_ core: StoreCore?, _ listeners: ChangeListeners, _ request: Request) {
    self.core = core
    self.request = request
    listener = ChangeListener(listeners)
  }

  /// What is there now, as soon as it is another than before; nil at the end.
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
        // What is told meanwhile needs no look: all of it is read anew.
        hasEnded = await !listener.waitToRetry(after: error, &pause, isolation: isolation)
      }
    }
    hasEnded = true
    return nil
  }

  /// The same without waiting: nil when nothing is different.
  mutating func nextIfThere() throws(StoreError) -> Value? {
    while let core {
      if isStale, let value = value(try request.read(from: core)) { return value }
      guard let changes = listener.take() else { return nil }
      isStale = isConcerned(by: changes)
    }
    return nil
  }

  /// What is given out of what was read; nil when that is as before.
  private mutating func value(_ new: Request.Content) -> Value? {
    isStale = false
    let differences = Request.differences(from: content, to: new)
    if content != nil, differences.isEmpty { return nil }
    content = new
    return (new, differences)
  }

  private func isConcerned(by changes: StoreChanges) -> Bool {
    guard let content else { return true }
    return changes.isAnything || request.isConcerned(by: changes, showing: content)
  }

  /// Reads; nil when the store is gone.
  ///
  /// The first time may take the disk, so a thread of the store's own reads. Later it is about what was
  /// committed just now and lies in memory, and changing threads would take longer than reading.
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
      preconditionFailure("the closure throws nothing else")
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
      preconditionFailure("the closure throws nothing else")
    }
  }
}
