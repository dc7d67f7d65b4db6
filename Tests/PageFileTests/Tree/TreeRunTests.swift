import PageFile
import Simulation
import Testing

/// Runs of changes do what their changes do one after the other.
@Suite struct TreeRunTests {
  @Test(arguments: [4096, 8192])
  func runsDoWhatTheirChangesDoOneByOne(_ pageSize: Int) throws {
    let seed = SeededGenerator.freshSeed()
    print("runsDoWhatTheirChangesDoOneByOne seed \(seed)")
    var random = SeededGenerator(seed: seed)
    let tree = try ArrayTree(pageSize: pageSize)
    var model: [[UInt8]: [UInt8]] = [:]
    let cells = CellRun()
    for _ in 0..<Scale.count(debug: 60, release: 600) {
      let head = [UInt8(random.below(3)), UInt8(random.below(20))]
      let isDense = random.below(2) == 0
      var run: [[UInt8]: [UInt8]?] = [:]
      // Some runs only store, and some mostly remove.
      let removing = [0, 2, 9][random.below(3)]
      let known = model.keys.filter { $0.starts(with: head) }.sorted {
        $0.lexicographicallyPrecedes($1)
      }
      for _ in 0..<1 + random.below(120) {
        if random.below(10) < removing, let key = known.randomElement(using: &random) {
          run.updateValue(nil, forKey: key)
          continue
        }
        let tail = bigEndian(isDense ? random.below(500) : random.below(1 << 40))
        let byteCount = random.below(40) == 0 ? random.below(3 * pageSize) : random.below(60)
        run[head + tail] = (0..<byteCount).map { _ in UInt8(random.below(256)) }
      }
      var wereThere = true
      for (key, value) in run {
        Bytes.with(key) { key in
          guard let value else { return cells.appendRemoval(of: key) }
          Bytes.with(value) { cells.append(key, $0) }
        }
        model[key] = value
      }
      if random.below(4) == 0, let key = run.keys.randomElement(using: &random) {
        // What the run says last of a key holds.
        Bytes.with(key) { cells.append($0, .empty) }
        model[key] = []
      }
      if random.below(4) == 0 {
        let absent = head + [9, 9]
        Bytes.with(absent) { cells.appendRemoval(of: $0) }
        wereThere = false
      }
      cells.sort()
      try tree.source.enter()
      #expect(try tree.tree.apply(cells) == wereThere, "seed \(seed)")
      tree.source.leave()
      cells.removeAll()
      #expect(tree.findings() == [], "seed \(seed)")
    }
    for (key, value) in model {
      #expect(try tree.value(key) == value, "seed \(seed)")
    }
    #expect(try tree.leaves().reduce(0) { $0 + $1.cellCount } == model.count, "seed \(seed)")
  }

  /// A run behind all others leaves full pages, as single insertions do.
  @Test func ascendingRunsFillTheirPages() throws {
    let tree = try ArrayTree(pageSize: 4096)
    for start in stride(from: 0, to: 20_000, by: 100) {
      let cells = CellRun()
      for number in start..<start + 100 {
        Bytes.with([1, 2] + bigEndian(number)) { cells.append($0, .empty) }
      }
      try tree.source.enter()
      #expect(try tree.tree.apply(cells))
      tree.source.leave()
    }
    #expect(try tree.leafFill() > 0.9)
    #expect(tree.findings() == [])
  }

  @Test func aKeyThatIsThereKeepsItsValue() throws {
    let seed = SeededGenerator.freshSeed()
    print("aKeyThatIsThereKeepsItsValue seed \(seed)")
    var random = SeededGenerator(seed: seed)
    let tree = try ArrayTree(pageSize: 4096)
    var model: [[UInt8]: [UInt8]] = [:]
    for _ in 0..<3000 {
      let key = bigEndian(random.below(1500))
      if random.below(4) == 0 {
        // Some values lie outside of their pages.
        model[key] = [UInt8](repeating: 7, count: random.below(20) == 0 ? 5000 : 3)
        _ = try tree.insert(key, model[key] ?? [])
        continue
      }
      try tree.source.enter()
      let wasThere = try Bytes.with(key) { try tree.tree.insertIfAbsent($0) }
      tree.source.leave()
      #expect(wasThere == (model[key] != nil), "seed \(seed)")
      if !wasThere { model[key] = [] }
    }
    for (key, value) in model { #expect(try tree.value(key) == value, "seed \(seed)") }
    #expect(try tree.leaves().reduce(0) { $0 + $1.cellCount } == model.count, "seed \(seed)")
    #expect(tree.findings() == [])
  }
}
