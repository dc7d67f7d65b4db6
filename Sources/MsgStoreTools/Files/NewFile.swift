import MsgStore
import PageFile

/// A new file that is made beside its place, so that nobody ever reads half of it.
///
///  1. Until `settle` the file has a name that ends with `.partial`. Its lock keeps other calls
///     from that name, so no two of them write to one file.
///  2. The remains of a process that was killed have the name but not the lock. They are written
///     over, if they are what this call writes too.
final class NewFile {
  private static let suffix = ".partial"

  private let directory: any StorageDirectory
  private let name: String
  private let temporaryName: String
  private let file: any StorageFile
  private var byteCount = 0
  /// True once the file has its own name.
  private var isNamed = false

  /// Creates the file under its temporary name.
  ///
  /// - Parameters:
  ///   - work: The name of the work that makes the file, for errors.
  ///   - start: The bytes that every file of the kind begins with.
  init(
    in directory: any StorageDirectory, name: String, work: String, start: String
  ) throws {
    self.directory = directory
    self.name = name
    let temporaryName = name + Self.suffix
    self.temporaryName = temporaryName
    let isTaken = try storage { () throws(PageFileError) in
      try directory.byteCount(of: name) != nil
    }
    guard !isTaken else {
      throw StoreToolError.alreadyExists(path: directory.path(of: name), work: work)
    }
    let temporaryPath = directory.path(of: temporaryName)
    let file = try storage { () throws(PageFileError) -> (any StorageFile)? in
      switch try directory.byteCount(of: temporaryName) {
      case nil: return try directory.open(temporaryName, .create)
      // Not an ordinary file: to open it may take for ever.
      case .max?: return nil
      default: return try directory.open(temporaryName, .readWrite)
      }
    }
    guard let file else { throw StoreToolError.notRemains(path: temporaryPath, work: work) }
    do {
      // The name may have gone on to another file before the lock was free.
      let isOwn = try storage { () throws(PageFileError) -> Bool in
        guard try file.tryLock() else { return false }
        return try directory.identity(of: temporaryName)?.isSameFile(as: try file.identity())
          ?? false
      }
      guard isOwn else { throw StoreToolError.inUse(path: temporaryPath, work: work) }
      guard try Self.isEmpty(file, or: Array(start.utf8)) else {
        throw StoreToolError.notRemains(path: temporaryPath, work: work)
      }
      try storage { () throws(PageFileError) in try file.truncate(to: 0) }
    } catch {
      file.close()
      throw error
    }
    self.file = file
  }

  /// Returns true if a file has no bytes, or begins with these as far as it goes.
  private static func isEmpty(
    _ file: any StorageFile, or start: [UInt8]
  ) throws(StoreError) -> Bool {
    var head = ByteBuffer(capacity: start.count)
    head.append(zeros: start.count)
    let count = try storage { () throws(PageFileError) in
      try file.read(into: head.mutableBytes, at: 0)
    }
    return start.starts(with: head.bytes.slice(0, count).array())
  }

  deinit { file.close() }

  /// Appends bytes.
  func append(_ bytes: [UInt8]) throws(StoreError) {
    try storage { () throws(PageFileError) in
      try Bytes.with(bytes) { (bytes) throws(PageFileError) in
        try file.write(bytes, at: byteCount)
      }
    }
    byteCount += bytes.count
  }

  /// Makes the bytes durable, and then gives the file its name.
  func settle() throws {
    do throws(PageFileError) {
      try file.sync()
      try directory.rename(temporaryName, to: name)
      isNamed = true
      try directory.sync()
    } catch .ioError(_, SystemCall.nameIsTaken, _) {
      throw StoreToolError.createdMeanwhile(path: directory.path(of: name))
    } catch {
      throw StoreError.storage(error)
    }
  }

  /// Removes the file, under whichever name it has.
  func discard() {
    try? directory.remove(isNamed ? name : temporaryName)
  }
}
