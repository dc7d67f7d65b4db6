import Foundation
import Testing

@testable import PageFile

/// A file gets another name in one step, so that a killed process never leaves it with two.
final class RenameTests {
  private let path = FileManager.default.temporaryDirectory.path + "/rename-\(UUID().uuidString)"
  private let directory: PosixDirectory

  init() throws {
    directory = PosixDirectory(path: path)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    for name in ["one", "other"] { try Data(name.utf8).write(to: URL(filePath: "\(path)/\(name)")) }
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  private func contents() throws -> [String: String] {
    var contents: [String: String] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: path) {
      contents[name] = try String(contentsOfFile: "\(path)/\(name)", encoding: .utf8)
    }
    return contents
  }

  /// Returns the number of the error with which a renaming fails.
  private func failure(_ name: String, to newName: String) -> Int32? {
    do throws(PageFileError) {
      try directory.rename(name, to: newName)
    } catch .ioError(_, let number, _) {
      return number
    } catch {
      return nil
    }
    return nil
  }

  @Test func theFileHasItsNewNameAlone() throws {
    try directory.rename("one", to: "new")
    #expect(try contents() == ["new": "one", "other": "other"])
    #expect(try directory.identity(of: "new")?.linkCount == 1)
  }

  @Test func aTakenNameStaysWithItsFile() throws {
    #expect(failure("one", to: "other") == SystemCall.nameIsTaken)
    #expect(try contents() == ["one": "one", "other": "other"])
  }

  @Test func aMissingFileIsAnError() throws {
    #expect(failure("none", to: "new") == SystemCall.nameIsUnknown)
    #expect(try contents() == ["one": "one", "other": "other"])
  }

  /// With two steps a process that is killed between them leaves a store that is refused.
  @Test func thisSystemNeedsNoSecondStep() throws {
    #expect(try ExclusiveRename.run("\(path)/one", "\(path)/new"))
    #expect(try contents() == ["new": "one", "other": "other"])
  }
}
