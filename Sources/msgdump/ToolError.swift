import MsgStore
import PageFile

/// Why a command could not do its work.
///
/// Its description is the one line that is printed.
package enum ToolError: Error, Hashable, CustomStringConvertible {
  /// A line of the input is not what it should be. Lines and columns begin at 1, columns in bytes.
  case badLine(line: Int, column: Int?, reason: String)
  /// Whoever read our output went away. That is no fault of anybody, and is not reported.
  case outputClosed
  /// Anything else, as a sentence.
  case failure(String)

  /// The moment that was read could not be kept.
  static let ownerTooQuick = ToolError.failure(
    "the store's owner changed too much of it in the meantime; run the command again")

  package var description: String {
    switch self {
    case .badLine(let line, let column?, let reason): "line \(line), byte \(column): \(reason)"
    case .badLine(let line, nil, let reason): "line \(line): \(reason)"
    case .outputClosed: "standard output was closed"
    case .failure(let sentence): sentence
    }
  }

  /// One line of plain words for any error that the tool can meet.
  static func sentence(for error: any Error) -> String {
    let words =
      switch error {
      case let error as PageFileError: sentence(for: error)
      case StoreError.storage(let error): sentence(for: error)
      default: "\(error)"
      }
    return words.split(whereSeparator: \.isNewline).joined(separator: " ").visible
  }

  /// The library says which call failed and its number; the system has words for the number.
  private static func sentence(for error: PageFileError) -> String {
    guard case .ioError(let call, let errorNumber, let path) = error else { return "\(error)" }
    return "\(path): \(call): \(System.reason(errorNumber))"
  }

  /// Whether the bytes of the store itself are at fault, rather than the world around it.
  static func isCorruption(_ error: any Error) -> Bool {
    switch error {
    case StoreError.storage(let error): isCorruption(error)
    case PageFileError.corruptMeta, PageFileError.corruptPage, PageFileError.corruptWAL,
      PageFileError.walMismatch:
      true
    default: false
    }
  }
}
