import Damage
import PageFile
import Testing

/// Files that never were so at one moment: copied while somebody wrote, or written by a device that lied.
///
/// What opens is what some commit left.
struct TornCopyTests {
  /// A copy that is made piece by piece, in some order of the files, while the store is in use.
  private struct Copier {
    var random: SeededGenerator
    var finished: [MemoryDirectory] = []
    private var current = MemoryDirectory()
    private var order: [String] = []
    private var ends: [String: Int] = [:]
    private let pieceByteCount = 4096

    init(_ random: SeededGenerator) { self.random = random }

    /// Copies a few pieces, of one file after the other or of all by turns.
    mutating func go(_ files: MemoryDirectory) {
      guard random.below(3) > 0 else { return }
      for _ in 0..<random.below(20) {
        if order.isEmpty {
          if !ends.isEmpty { finished.append(current) }
          current = MemoryDirectory()
          ends = [:]
          order = Specimen.fileNames.filter { files[$0] != nil }.shuffled(using: &random)
          if random.below(2) == 0 { order += order + order }
        }
        guard let name = order.first, let bytes = files[name] else { return order.removeAll() }
        let start = ends[name, default: 0]
        // Most of a WAL file is empty; a copier is soon through with it.
        let isEmpty = start > 20_000 && name != Specimen.storeName
        let end = isEmpty ? bytes.count : min(bytes.count, start + pieceByteCount)
        if start < end { current[name] = (current[name] ?? []) + bytes[start..<end] }
        ends[name] = end
        if end >= bytes.count {
          order.removeAll { $0 == name }
        } else if order.count > 3 {
          order.append(order.removeFirst())
        }
      }
    }
  }

  @Test func copiesMadeBesideAWriterAreRefusedOrWhatACommitLeft() throws {
    let copier = Locked(Copier(SeededGenerator()))
    let directory = HookedDirectory { (call, files) throws(PageFileError) in
      if call.isChange { copier.withLock { $0.go(files) } }
    }
    var maker = try SpecimenMaker(in: directory)
    var random = SeededGenerator()
    for _ in 0..<120 {
      try maker.commit(random.below(2) == 0 ? .full : .relaxed)
      if random.below(4) == 0 { try maker.database.checkpoint() }
      if random.below(20) == 0 {
        try maker.database.close()
        maker = try SpecimenMaker(in: directory, after: maker.states)
      }
    }
    let copies = copier.withLock { $0.finished }
    let history = Specimen("copy", directory.files.copy(), maker.states)
    var openedCount = 0
    for copy in copies where copy.exists(Specimen.storeName) {
      let verdict = Judge(history.proven(by: copy)).verdict(copy)
      #expect(verdict.outcome != .harm, "\(verdict.sentence)")
      if verdict.outcome != .refused { openedCount += 1 }
    }
    print("copies beside a writer: \(copies.count), opened: \(openedCount)")
    #expect(copies.count > 10)
  }

  // MARK: A device that lies

  /// A change that a device was asked to make.
  private struct Change {
    let name: String
    let offset: Int
    let bytes: [UInt8]
    /// Set for a change of size.
    let newByteCount: Int?
  }

  /// The changes up to `end`; of those from `start` on, any sectors may be missing.
  private func files(
    _ changes: [Change], lyingFrom start: Int, to end: Int, _ random: inout SeededGenerator
  ) -> MemoryDirectory {
    var contents: [String: [UInt8]] = [:]
    for (index, change) in changes[..<end].enumerated() {
      let isSure = index < start
      var bytes = contents[change.name, default: []]
      if let count = change.newByteCount {
        if isSure || random.below(2) == 0 {
          bytes = Array(bytes.prefix(count))
          bytes += [UInt8](repeating: 0, count: count - bytes.count)
        }
      } else {
        for place in stride(from: 0, to: change.bytes.count, by: 512)
        where isSure || random.below(2) == 0 {
          let sector = change.bytes[place..<min(place + 512, change.bytes.count)]
          let begin = change.offset + place
          if bytes.count < begin + sector.count {
            bytes += [UInt8](repeating: 0, count: begin + sector.count - bytes.count)
          }
          bytes.replaceSubrange(begin..<begin + sector.count, with: sector)
        }
      }
      contents[change.name] = bytes
    }
    let files = MemoryDirectory()
    for (name, bytes) in contents { files[name] = bytes }
    return files
  }

  @Test func aDeviceThatLiesAboutSyncsIsFoundOut() throws {
    let changes = Locked<[Change]>([])
    let directory = HookedDirectory { (call, _) throws(PageFileError) in
      guard call.isChange, call.kind != .rename, call.kind != .create else { return }
      let isOfSize = call.kind == .extend || call.kind == .truncate
      // The store is made under another name.
      let name = call.name.hasPrefix("store-wal") ? call.name : Specimen.storeName
      let change = Change(
        name: name, offset: call.offset, bytes: call.bytes.array(),
        newByteCount: isOfSize ? call.newByteCount : nil)
      changes.withLock { $0.append(change) }
    }
    let maker = try SpecimenMaker(in: directory)
    var random = SeededGenerator()
    for _ in 0..<24 {
      try maker.commit()
      if random.below(4) == 0 { try maker.database.checkpoint() }
    }
    let all = changes.withLock { $0 }
    let begin = try #require(all.firstIndex { $0.name != Specimen.storeName })
    var openedCount = 0
    for _ in 0..<150 {
      let start = begin + random.below(all.count - begin)
      let end = start + random.below(min(30, all.count - start) + 1)
      let files = files(all, lyingFrom: start, to: end, &random)
      let specimen = Specimen("a lie from \(start) to \(end)", files, maker.states)
      // A commit that a later write was to replace may be gone without a trace, but nothing that the files
      // prove.
      let verdict = Judge(specimen.proven(by: files)).verdict(files)
      #expect(verdict.outcome != .harm, "\(specimen.name): \(verdict.sentence)")
      if verdict.outcome != .refused { openedCount += 1 }
    }
    print("lies: 150, opened: \(openedCount)")
    #expect(openedCount > 10)
  }
}
