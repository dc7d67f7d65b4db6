/// The directory that holds a store's files: their names, and the sync that makes names durable.
package protocol StorageDirectory: AnyObject, Sendable {
  /// Returns the full path of a name, for error messages.
  func path(of name: String) -> String

  /// Returns the identity of the file that currently has this name, or nil if there is no such
  /// file.
  func identity(of name: String) throws(PageFileError) -> FileIdentity?

  /// Returns the size in bytes of the file that has this name, or nil if the name does not exist.
  ///
  /// Anything that is not an ordinary file counts as having content: its size is `Int.max`.
  func byteCount(of name: String) throws(PageFileError) -> Int?

  func open(_ name: String, _ mode: FileMode) throws(PageFileError) -> any StorageFile

  /// Renames a file. The new name must be free: an existing file is never replaced.
  func rename(_ name: String, to newName: String) throws(PageFileError)

  func remove(_ name: String) throws(PageFileError)

  /// Makes created, renamed and removed names durable.
  func sync() throws(PageFileError)
}

extension StorageDirectory {
  /// Returns true if the name exists.
  package func exists(_ name: String) throws(PageFileError) -> Bool {
    try identity(of: name) != nil
  }

  /// Asks the file itself, for directories that have ordinary files only.
  package func byteCount(of name: String) throws(PageFileError) -> Int? {
    guard try exists(name) else { return nil }
    let file = try open(name, .read)
    defer { file.close() }
    return try file.byteCount()
  }
}

/// The mode in which a file is opened.
package enum FileMode: Sendable {
  /// An existing file, for reading.
  case read
  /// An existing file, for reading and writing.
  case readWrite
  /// A new file; it is an error if the name is taken.
  case create
}
