import PageFile

/// Reads records and keys of a message store that anybody may have written.
enum MessageRecordsTarget {
  static func run(_ input: inout FuzzInput) throws(BrokenPromise) {
    switch input.index(below: 4) {
    case 0: try RecordCodecs.run(input.rest())
    case 1: try CompressedText.run(&input)
    default: try ForeignCells.run(&input)
    }
  }
}
