/// An error of an export, a restore, or a salvage that is not one of a store.
///
/// Its description is a sentence for people to read.
public enum StoreToolError: Error, Sendable, Hashable {
  /// A line of an export is malformed, or says something that no store can hold.
  ///
  /// Lines and columns begin at 1, and columns count bytes. There is no column if no single byte is
  /// to blame.
  case malformedLine(line: Int, column: Int?, reason: String)
  /// The place of a new store or file is taken, and nothing is ever overwritten.
  case alreadyExists(path: String, work: String)
  /// The folder of a new store or file does not exist.
  case noFolder(path: String)
  /// Another call, here or in another process, is making the same store or file.
  case inUse(path: String, work: String)
  /// A file that is not the remains of earlier work has the temporary name.
  case notRemains(path: String, work: String)
  /// The new store would take the name of a file of the store being read.
  case fileOfSource(path: String, source: String)
  /// A file of the final name was created while the work was under way.
  case createdMeanwhile(path: String)
  /// The damaged store was written to while it was being read, so the result mixes moments.
  case changedMeanwhile(path: String)
  /// Two conversations are being merged in steps, during which neither has all of the contents.
  ///
  /// The store's owner finishes that by itself; try again then.
  case mergeUnderWay
}

extension StoreToolError: CustomStringConvertible {
  /// The error as a sentence.
  public var description: String {
    switch self {
    case .malformedLine(let line, let column?, let reason):
      "line \(line), byte \(column): \(reason)"
    case .malformedLine(let line, nil, let reason): "line \(line): \(reason)"
    case .alreadyExists(let path, let work):
      "\(path) already exists; \(work) only makes new \(work == "export" ? "files" : "stores")"
    case .noFolder(let path): "\(path): no such folder"
    case .inUse(let path, let work): "\(path): in use by another \(work)"
    case .notRemains(let path, let work):
      "\(path): not the remains of \(work == "export" ? "an" : "a") \(work); remove it"
    case .fileOfSource(let path, let source): "\(path) is a file of \(source)"
    case .createdMeanwhile(let path): "\(path) was created in the meantime"
    case .changedMeanwhile(let path): "\(path) was changed meanwhile; close it and try again"
    case .mergeUnderWay:
      "two conversations are being merged; let the store's owner finish that, and try again"
    }
  }
}
