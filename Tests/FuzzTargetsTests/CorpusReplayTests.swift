import Foundation
import FuzzTargets
import Testing

/// What the fuzzers have found keeps every promise: an input that once broke one, and those that
/// together reach all that was ever reached.
@Suite struct CorpusReplayTests {
  @Test(arguments: FuzzTarget.allCases)
  func everyInputOfTheCorpusKeepsAllPromises(target: FuzzTarget) throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Fuzz/Corpus/\(target.rawValue)")
    let inputs = try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil)
    #expect(!inputs.isEmpty)
    for input in inputs {
      // Printed before, as a trap takes a test's own messages with it.
      if input.lastPathComponent.contains("-") {
        print("\(target.rawValue) \(input.lastPathComponent)")
      }
      do {
        try target.run(Array(try Data(contentsOf: input)))
      } catch let error as BrokenPromise {
        Issue.record("\(target.rawValue)/\(input.lastPathComponent): \(error)")
      }
    }
  }
}
