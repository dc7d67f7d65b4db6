/// Where the files of a store live: names, and what makes names durable.
package protocol StorageDirectory: AnyObject, Sendable {
  /// The full path of a name, for error messages.
  func path(of name: String) -> String

  /// The file that has this name now; nil when there is none.
  func identity(of name: String) throws(PageFileError) -> FileIdentity?

  func open(_ name: String, _ mode: FileMode) throws(PageFileError) -> any StorageFile

  /// Gives a file another name, which must be free: nothing is ever replaced.
  func rename(_ name: String, to newName: String) throws(PageFileError)

  func remove(_ name: String) throws(PageFileError)

  /// Makes created, renamed and removed names durable.
  func sync() throws(PageFileError)
}

extension StorageDirectory {
  /// Whether there is something under this name.
  package func exists(_ name: String) throws(PageFileError) -> Bool {
    try identity(of: name) != nil
  }
}

/// How a file is opened.
package enum FileMode: Sendable {
  /// An existing file, for reading.
  case read
  /// An existing file, for reading and writing.
  case readWrite
  /// A new file; it is an error if the name is taken.
  case create
}
