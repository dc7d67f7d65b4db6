import Foundation
import MsgStore
import MsgStoreTools
import PageFile
import Testing
import msgdump

/// Thrown where a test ends long work.
struct Stop: Error {}

/// The lines of the sample chat.
func sampleLines(messageCount: Int) -> [UInt8] {
  var bytes: [UInt8] = []
  SampleChat(longThreadMessageCount: messageCount).forEachRecord {
    JSONLineWriter.append($0, to: &bytes)
  }
  return bytes
}

extension MessageStore {
  /// All lines of a part of the store.
  func lines(of scope: ExportScope = ExportScope()) throws -> [UInt8] {
    var bytes: [UInt8] = []
    try exportLines(of: scope) { bytes += $0 }
    return bytes
  }

  /// Makes a store from lines, and opens it.
  static func restored(
    from lines: [UInt8], in directory: MemoryDirectory = MemoryDirectory(),
    isLenient: Bool = false
  ) throws -> MessageStore {
    let restorer = Restorer(isLenient: isLenient, numbersFromOrder: false, localMember: nil)
    try restorer.restore(JSONRecordReader(isLenient: isLenient, source: source(of: lines))) {
      options throws(StoreError) in
      try MessageStore(in: directory, name: "store", options: options)
    }
    // A rule that is restored applies once the store is used, and would prune while it is compared.
    var options = StoreOptions()
    options.prunesByItself = false
    return try MessageStore(in: directory, name: "store", options: options)
  }
}

/// Runs long work again and again, and ends it at its first call of the progress, at its second,
/// and so on; expects that nothing is left in the directory each time.
///
/// - Parameter work: Does the work; calls the function at each progress.
func expectNothingLeft(
  in directory: TemporaryDirectory, _ location: SourceLocation = #_sourceLocation,
  _ work: (_ tick: () throws -> Void) throws -> Void
) throws {
  let before = try directory.contents
  var callCount = 1
  var isOver = false
  while !isOver {
    var count = 0
    do {
      try work {
        count += 1
        if count == callCount { throw Stop() }
      }
      isOver = true
    } catch is Stop {
      #expect(try directory.contents == before, "call \(callCount)", sourceLocation: location)
    }
    callCount += 1
  }
  #expect(callCount > 4, sourceLocation: location)
}
