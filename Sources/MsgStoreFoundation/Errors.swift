public import Foundation
public import MsgStore
public import PageFile

/// Sentences for `localizedDescription`, which otherwise shows the number of a case.
///
/// They are in English and name ids and paths: fit for a log and for a developer. An app that shows
/// an error to its user chooses its own words by the error's case.
extension StoreError: LocalizedError {
  /// The error as a sentence; its `description`.
  public var errorDescription: String? { description }

  /// The advice for the faults that have one: what to do about the file or the device.
  public var recoverySuggestion: String? {
    switch self {
    case .storage(let error): error.recoverySuggestion
    case .opening(.schemaTooNew): "Update the app."
    case .corruptRecord: "Salvage the store into a new one."
    default: nil
    }
  }
}

extension PageFileError: LocalizedError {
  /// The error as a sentence; its `description`.
  public var errorDescription: String? { description }

  /// The advice for the faults that have one: what to do about the file or the device.
  public var recoverySuggestion: String? {
    switch self {
    case .diskFull: "Free some space on the device."
    case .deviceLocked: "Unlock the device."
    case .unsupportedFormat: "Update the app."
    case .alreadyOpen: "Share one store object within the process."
    case .poisoned: "Resume the store."
    case .corruptPage, .corruptMeta, .corruptWAL: "Salvage the store into a new one."
    default: nil
    }
  }
}

extension AttachmentProblem: LocalizedError {
  /// The problem as a sentence; its `description`.
  public var errorDescription: String? { description }
}
