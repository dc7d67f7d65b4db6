import MsgStoreTools
import PageFile

/// The place of a page that is being made: a file that gets its name once it is complete, or
/// standard output.
///
/// A command that fails or is interrupted leaves nothing there.
struct HTMLPlace {
  private let path: String
  private let replaces: Bool

  /// Checks that the place is free, or may be replaced.
  ///
  /// - Parameters:
  ///   - path: The file; `-` is standard output.
  ///   - replaces: True to replace an existing file.
  ///   - store: The data file of the store that the page shows, which is never replaced.
  init(path: String, replaces: Bool, store: String) throws {
    self.path = path
    self.replaces = replaces
    guard path != "-" else { return }
    try NewStorePlace.refuse(path, asFileOf: store, called: "the store")
    for suffix in NewStorePlace.suffixes where System.isSameFile(path, store + suffix) {
      throw ToolError.failure("\(path) is a file of the store")
    }
    try checkIsFree()
  }

  /// Writes the page.
  func write(_ body: (HTMLWriter) throws -> Void) throws {
    guard path != "-" else {
      let writer = HTMLWriter(System.writeToStandardOutput)
      try body(writer)
      return try writer.finish()
    }
    // The number of the process keeps two commands apart that write the same page.
    let temporaryPath = "\(path).\(System.processNumber).writing"
    let file = try OutputFile(creating: temporaryPath)
    System.removeWhenInterrupted([temporaryPath])
    do {
      let writer = HTMLWriter { (bytes) throws(ToolError) in try file.write(bytes) }
      try body(writer)
      try writer.finish()
      try file.sync()
      try checkIsFree()
      try System.rename(temporaryPath, to: path)
      System.removeWhenInterrupted([])
    } catch {
      System.remove(temporaryPath)
      System.removeWhenInterrupted([])
      throw error
    }
  }

  /// Throws if something lies at the path that is not to be replaced.
  ///
  /// An empty file may lie there: `mktemp` leaves one.
  private func checkIsFree() throws(ToolError) {
    guard let byteCount = try System.fileByteCount(at: path), byteCount > 0 else { return }
    guard byteCount != .max else { throw .failure("\(path): not an ordinary file") }
    guard replaces else { throw .failure("\(path) already exists; --force replaces it") }
  }
}
