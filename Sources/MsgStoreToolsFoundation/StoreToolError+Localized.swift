public import Foundation
public import MsgStoreTools

/// Sentences for `localizedDescription`, as MsgStoreFoundation has them for errors of a store.
extension StoreToolError: LocalizedError {
  /// The error as a sentence; its `description`.
  public var errorDescription: String? { description }
}
