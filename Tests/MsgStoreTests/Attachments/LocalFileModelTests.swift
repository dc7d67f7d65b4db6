import MsgStore
import PageFile
import Testing

/// Whatever is done to a store, each file that it was told of is needed, or listed, or confirmed.
struct LocalFileModelTests {
  /// The paths that attachments have, read from their records alone, and the listed ones.
  private func paths(
    _ chat: borrowing StoreSnapshot
  ) throws -> (needed: Set<String>, listed: [String]) {
    let needed = try chat.within { (view) throws(StoreError) in
      var paths: Set<String> = []
      let start = KeyEncoding.key(0)
      try view.forEachCell(with: start, sharing: 0, in: Schema.facts) {
        (key, value) throws(StoreError) in
        guard FactKey.parts(key)?.kind == .attachment, let record = AttachmentRecord(value) else {
          return true
        }
        if let path = record.attachment.localPath, !path.isEmpty { paths.insert(path) }
        return true
      }
      return paths
    }
    return (needed, try chat.unneededFiles(count: 10_000))
  }

  @Test func noFileIsForgottenAndNoneListedThatIsNeeded() throws {
    for seed in seeds(12, debugCount: 4) {
      var random = SeededGenerator(seed: seed)
      var known: Set<String> = []
      var confirmedCount = 0
      var made = RandomStore(
        seed: seed, packing: .random(seed), idCount: [6, 8, 40].randomElement(using: &random) ?? 8,
        isNarrow: random.chance(50))
      made.confirmsFiles = false
      let store = try made.make(stepCount: 250) { store in
        let (needed, listed) = try store.read { try paths($0) }
        let both = needed.intersection(listed)
        #expect(both.isEmpty, "seed \(seed): \(both) are listed and needed")
        #expect(Set(listed).count == listed.count, "seed \(seed): a path is listed twice")
        let lost = known.subtracting(needed).subtracting(listed)
        #expect(lost.isEmpty, "seed \(seed): \(lost) are forgotten")
        known = needed.union(listed)
        guard random.chance(10) else { return }
        let removed =
          listed.filter { _ in random.chance(50) } + needed.filter { _ in random.chance(9) }
        let count = try store.write { try $0.confirmRemoval(ofFiles: removed) }
        #expect(count == Set(removed).intersection(listed).count)
        confirmedCount += count
        known.subtract(Set(removed).subtracting(needed))
      }
      #expect(try store.defect() == nil, "seed \(seed)")
      try store.close()
    }
  }
}
