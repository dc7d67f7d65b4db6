import PageFile

/// The strings of a sample that a dictionary may hold.
extension SuffixOrder {
  /// Returns the length of the longest allowed string at each position of the sample, or zero.
  ///
  /// Strings with a common prefix are a run of neighbours, and runs are nested: the run of a string
  /// lies within the runs of its prefixes. One walk with a stack therefore meets each run once,
  /// longer strings first. If a string is allowed, so are all its prefixes.
  borrowing func commonLengths(_ sample: borrowing TextSample) -> [UInt8] {
    var lengths = [UInt8](repeating: 0, count: sample.byteCount)
    let countsDays = sample.countsDays
    var open: [Run] = []
    for index in 0...positions.count {
      let shared = index < positions.count ? Int(sharedByteCounts[index]) : 0
      var start = index - 1
      var isCommon = false
      while let run = open.last, run.byteCount > shared {
        open.removeLast()
        start = run.start
        isCommon = isCommon || run.isCommon || self.isCommon(run, index, sample, countsDays)
        if isCommon {
          for position in positions[run.start..<index] where lengths[Int(position)] == 0 {
            lengths[Int(position)] = UInt8(run.byteCount)
          }
        }
      }
      guard shared >= DictionaryBuilder.stringByteCountMin else { continue }
      if let run = open.last, run.byteCount == shared {
        open[open.count - 1].isCommon = run.isCommon || isCommon
      } else {
        open.append(Run(byteCount: shared, start: start, isCommon: isCommon))
      }
    }
    return lengths
  }

  private borrowing func isCommon(
    _ run: Run, _ end: Int, _ sample: borrowing TextSample, _ countsDays: Bool
  ) -> Bool {
    end - run.start >= DictionaryBuilder.messageCountMin
      && sample.isCommon(positions[run.start..<end], countsDays: countsDays)
  }

  /// A run of neighbours that begin with the same `byteCount` bytes.
  private struct Run {
    let byteCount: Int
    let start: Int
    /// True if a longer string within the run was found to be common.
    var isCommon: Bool
  }
}
