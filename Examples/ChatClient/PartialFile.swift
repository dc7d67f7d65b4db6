import Foundation

/// A file on its way to this device: it has another name until it is whole.
struct PartialFile {
  private let path: String
  private let file: FileHandle
  /// How much of it is here.
  private(set) var byteCount: Int64

  private static func partPath(_ path: String) -> String { path + ".part" }

  /// Opens the part that an earlier attempt has left, or begins a new one.
  ///
  /// A part that is longer than the whole is none of this file, and begins anew.
  init(of path: String, maximumByteCount: Int64?) throws {
    self.path = path
    let part = Self.partPath(path)
    let files = FileManager.default
    try files.createDirectory(
      atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    if !files.fileExists(atPath: part) { try Data().write(to: URL(fileURLWithPath: part)) }
    file = try FileHandle(forUpdating: URL(fileURLWithPath: part))
    byteCount = Int64(try file.seekToEnd())
    if let maximumByteCount, byteCount > maximumByteCount { try restart() }
  }

  mutating func append(_ bytes: Data) throws {
    try file.write(contentsOf: bytes)
    byteCount += Int64(bytes.count)
  }

  /// Throws away what is here.
  mutating func restart() throws {
    try file.truncate(atOffset: 0)
    byteCount = 0
  }

  /// Gives the file its name, once its bytes are on the disk: nothing half-made is taken for whole.
  func finish() throws {
    try file.synchronize()
    try file.close()
    try FileManager.default.moveItem(atPath: Self.partPath(path), toPath: path)
  }

  /// Returns true if a whole file is there; one of another length is removed.
  static func isWhole(_ path: String, byteCount: Int64?) throws -> Bool {
    let files = FileManager.default
    guard files.fileExists(atPath: path) else { return false }
    let found = try files.attributesOfItem(atPath: path)[.size] as? NSNumber
    if byteCount == nil || found?.int64Value == byteCount { return true }
    try files.removeItem(atPath: path)
    return false
  }
}
