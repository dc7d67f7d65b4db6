import MsgStore
import PageFile

/// Runs long work on a thread made for it, and ends it if the task is cancelled.
///
/// - Parameter body: The work. It calls the function that it is given now and then, which throws
///   `CancellationError` once the task is cancelled.
func onThreadUntilCancelled<R: Sendable>(
  _ body: @escaping @Sendable (_ check: () throws -> Void) throws -> R
) async throws -> R {
  let isCancelled = Locked(false)
  return try await withTaskCancellationHandler {
    try await onThreadOfItsOwn { () throws -> R in
      try body { if isCancelled.withLock({ $0 }) { throw CancellationError() } }
    }
  } onCancel: {
    isCancelled.withLock { $0 = true }
  }
}
