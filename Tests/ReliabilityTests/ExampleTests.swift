import Foundation
import Testing

/// The example, as people run it: three processes, and two stores that say the same in the end.
struct ExampleTests {
  @Test func twoPeopleInProcessesOfTheirOwnEndWithTheSameExport() throws {
    let run = try Child("chat-example", [], in: FileManager.default.temporaryDirectory)
    let status = run.end()
    let lines = String(decoding: try run.output, as: UTF8.self).split(separator: "\n")
    #expect(status == 0, "\(lines.suffix(30).joined(separator: "\n"))")
    #expect(lines.last == "The two exports are the same.")
  }

  @Test func unknownArgumentsAreRefused() throws {
    let run = try Child("chat-example", ["carol"], in: FileManager.default.temporaryDirectory)
    #expect(run.end() == 2)
  }
}
