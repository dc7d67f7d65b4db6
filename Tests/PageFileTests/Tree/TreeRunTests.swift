import PageFile
import Simulation
import Testing

/// Runs of cells go where their cells go one after the other.
@Suite struct TreeRunTests {
  @Test(arguments: [4096, 8192])
  func runsBecomeWhatTheirCellsDoOneByOne(_ pageSize: Int) throws {
    let seed = SeededGenerator.freshSeed()
    print("runsBecomeWhatTheirCellsDoOneByOne seed \(seed)")
    var random = SeededGenerator(seed: seed)
    let tree = try ArrayTree(pageSize: pageSize)
    var model: [[UInt8]: [UInt8]] = [:]
    for _ in 0..<Scale.count(debug: 20, release: 200) {
      let head = [UInt8(random.below(3)), UInt8(random.below(200))]
      let isDense = random.below(2) == 0
      var run: [[UInt8]: [UInt8]] = [:]
      for _ in 0..<1 + random.below(120) {
        let tail = bigEndian(isDense ? random.below(500) : random.below(1 << 40))
        let byteCount = random.below(40) == 0 ? random.below(3 * pageSize) : random.below(60)
        run[head + tail] = (0..<byteCount).map { _ in UInt8(random.below(256)) }
      }
      let cells = CellRun()
      for (key, value) in run.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
        Bytes.with(key) { key in Bytes.with(value) { value in cells.append(key, value) } }
        model[key] = value
      }
      try tree.source.enter()
      try tree.tree.insert(cells)
      tree.source.leave()
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
      try tree.tree.insert(cells)
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
