import MsgStore
import MsgStoreTools
import PageFile

/// The reason why a command failed.
///
/// Its description is the one line that is printed.
package enum ToolError: Error, Hashable, CustomStringConvertible {
  /// The reader of the output has gone away.
  ///
  /// This is nobody's fault and is not reported.
  case outputClosed
  /// Any other failure, as a sentence.
  case failure(String)

  /// The moment being read could not be kept.
  static let ownerTooQuick = ToolError.failure(
    "the store's owner changed too much of it in the meantime; run the command again")

  package var description: String {
    switch self {
    case .outputClosed: "standard output was closed"
    case .failure(let sentence): sentence
    }
  }

  /// Returns one line of plain words for any error that the tool can meet.
  static func sentence(for error: any Error) -> String {
    let words =
      switch error {
      case let error as PageFileError: sentence(for: error)
      case StoreError.storage(let error): sentence(for: error)
      default: "\(error)"
      }
    return words.split(whereSeparator: \.isNewline).joined(separator: " ").visible
  }

  /// Adds the system's words to an I/O error: the library gives only the failed call and its
  /// number.
  private static func sentence(for error: PageFileError) -> String {
    switch error {
    case .ioError(_, System.isADirectory, let path): "\(path): a directory, not a store"
    case .ioError(let call, let errorNumber, let path):
      "\(path): \(call): \(System.reason(errorNumber))"
    case .keyMissing(let path): "\(path): encrypted; \(AppKeyText.adviceWithoutKey)"
    case .notADatabase(let path): kind(of: path).map { "\(path): \($0)" } ?? "\(error)"
    default: "\(error)"
    }
  }

  /// Returns the kind of a file that is not a store, as far as its first bytes tell.
  private static func kind(of path: String) -> String? {
    var head = [UInt8](repeating: 0, count: 16)
    guard let file = try? InputFile(path: path),
      let byteCount = try? file.read(into: &head, at: 0)
    else { return nil }
    if byteCount == 0 { return "empty file, not a store" }
    // "SQLite format 3" and a zero (https://www.sqlite.org/fileformat.html, section 1.3).
    if head.elementsEqual("SQLite format 3\0".utf8) { return "an SQLite database, not a store" }
    if head.first == UInt8(ascii: "{") { return "text (JSON lines?), not a store; see restore" }
    return nil
  }

  /// Returns true if the bytes of the store itself are at fault, rather than its environment.
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
