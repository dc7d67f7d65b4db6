import Foundation
import FuzzTargets
import Simulation
import Testing

/// What the fuzzers have found keeps every promise: an input that once broke one, and those that
/// together reach all that was ever reached.
///
/// A debug build replays all of the former, and of the latter every fifth, others in each run.
struct CorpusReplayTests {
  @Test(arguments: FuzzTarget.allCases)
  func everyInputOfTheCorpusKeepsAllPromises(target: FuzzTarget) throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Fuzz/Corpus/\(target.rawValue)")
    let inputs = try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil)
    #expect(!inputs.isEmpty)
    let stride = Scale.count(debug: 5, release: 1)
    let phase = Int.random(in: 0..<stride)
    print("\(target.rawValue): every input of \(stride), from \(phase)")
    for (index, input) in inputs.sorted(by: { $0.path < $1.path }).enumerated() {
      let onceBrokeAPromise = input.lastPathComponent.contains("-")
      guard onceBrokeAPromise || index % stride == phase || inputs.count < 20 else { continue }
      // Printed before, as a trap takes a test's own messages with it.
      if onceBrokeAPromise {
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
