import Damage
import PageFile
import Testing

/// LSNs, write numbers and generations near 2^62, where the format ends: writing is refused in time, and a
/// store that cannot be written any more can still be read.
struct CounterTests {
  private let end: UInt64 = 1 << 62

  enum Counter: CaseIterable {
    case lsn
    case writeNumber
    case generation
    case all
  }

  /// A closed store whose counters are `distance` below the first number that is none.
  private func store(_ counter: Counter, _ distance: UInt64) throws -> (MemoryDirectory, Contents) {
    let specimen = try Specimen.closed()
    let files = specimen.files.copy()
    var bytes = try #require(files[Specimen.storeName])
    for slot in 0..<2 {
      let offset = MetaSlot.offset(of: slot)
      // Both slots stay a publication apart.
      let number = end - distance - UInt64(slot)
      if counter == .writeNumber || counter == .all {
        Forge.store(number, 8, in: &bytes, at: offset + 56)
      }
      if counter == .lsn || counter == .all {
        Forge.store(end - distance, 8, in: &bytes, at: offset + 64)
      }
      if counter == .generation || counter == .all {
        Forge.store(end - distance, 8, in: &bytes, at: offset + 80)
      }
      Forge.sealMeta(&bytes, slot)
    }
    files[Specimen.storeName] = bytes
    for name in Specimen.fileNames.dropFirst() { files[name] = nil }
    return (files, specimen.states[specimen.lastLSN])
  }

  @Test(arguments: Counter.allCases)
  func writingIsRefusedInTimeAndReadingGoesOn(counter: Counter) throws {
    for distance in 1...12 as ClosedRange<UInt64> {
      var (files, expected) = try store(counter, distance)
      var refusalCount = 0
      /// Whether something worked; only the limit may be in its way.
      func works(_ body: () throws(PageFileError) -> Void) -> Bool {
        do throws(PageFileError) {
          try body()
          return true
        } catch {
          refusalCount += 1
          if case .limitExceeded = error { return false }
          // An opening that was refused half-way has to be made anew.
          if error == .poisoned && refusalCount > 1 { return false }
          Issue.record("\(counter), \(distance) left: \(error)")
          return false
        }
      }
      for round in 0..<4 {
        var options = SpecimenMaker.options
        var database: Database?
        _ = works { () throws(PageFileError) in
          database = try Database(in: files, name: Specimen.storeName, options: options)
        }
        if let database {
          for key in 0..<3 {
            let isKept = works { () throws(PageFileError) in
              _ = try database.put([UInt8(round), UInt8(key)], [1], tree: 4)
            }
            if isKept { expected[[4, UInt8(round), UInt8(key)]] = [1] }
            _ = works { () throws(PageFileError) in try database.checkpoint() }
          }
          // Every other owner is killed.
          if round % 2 == 0 { _ = works { () throws(PageFileError) in try database.close() } }
        }
        files = files.copy()
        options.access = .readOnly
        let reader = try Database(in: files, name: Specimen.storeName, options: options)
        let isRight = try reader.state().contents == expected
        #expect(isRight, "\(counter), \(distance) left, round \(round)")
        #expect(try reader.findings() == [])
      }
      #expect(refusalCount > 0 || distance > 4, "\(counter), \(distance) left")
    }
  }
}
