import PageFile
import Simulation
import Testing

/// Runs of changes do what their changes do one after the other.
struct TreeRunTests {
  @Test(arguments: [4096, 8192])
  func runsDoWhatTheirChangesDoOneByOne(_ pageSize: Int) throws {
    let seed = SeededGenerator.freshSeed()
    print("runsDoWhatTheirChangesDoOneByOne seed \(seed)")
    var random = SeededGenerator(seed: seed)
    let tree = try ArrayTree(pageSize: pageSize)
    var model: [[UInt8]: [UInt8]] = [:]
    var cells = CellRun()
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
      var cells = CellRun()
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

  /// Cells that count: what is added to them, and what is not, as their value is malformed, lies
  /// outside of the page, or would fall below zero.
  @Test func cellsThatCountAreAddedTo() throws {
    let seed = SeededGenerator.freshSeed()
    print("cellsThatCountAreAddedTo seed \(seed)")
    var random = SeededGenerator(seed: seed)
    let tree = try ArrayTree(pageSize: 4096)
    var model: [[UInt8]: Int] = [:]
    for _ in 0..<Scale.count(debug: 200, release: 2000) {
      var cells = CellRun()
      var isRight = true
      for _ in 0..<1 + random.below(30) {
        let key = bigEndian(random.below(600))
        let difference = [1, 1, -1, -2, 300][random.below(5)]
        let sum = (model[key] ?? 0) + difference
        if sum < 0 || sum == 0 && model[key] == nil { isRight = false } else { model[key] = sum }
        if model[key] == 0 { model[key] = nil }
        Bytes.with(key) { cells.appendCount(difference, of: $0) }
      }
      cells.sort()
      try tree.source.enter()
      #expect(try tree.tree.apply(cells) == isRight, "seed \(seed)")
      tree.source.leave()
      #expect(tree.findings() == [], "seed \(seed)")
    }
    for (key, count) in model {
      let value = try #require(try tree.value(key))
      #expect(Bytes.with(value) { CellCount.decode($0) } == UInt64(count), "seed \(seed)")
    }
    #expect(try tree.leaves().reduce(0) { $0 + $1.cellCount } == model.count, "seed \(seed)")
  }

  @Test(arguments: [[1], [0], [200], [2, 0], [UInt8](repeating: 1, count: 5000)])
  func aValueThatIsNoNumberStaysAsItIs(_ value: [UInt8]) throws {
    let tree = try ArrayTree(pageSize: 4096)
    _ = try tree.insert([7], value)
    for difference in [1, -1] {
      var cells = CellRun()
      Bytes.with([7]) { cells.appendCount(difference, of: $0) }
      try tree.source.enter()
      #expect(try !tree.tree.apply(cells))
      tree.source.leave()
      #expect(try tree.value([7]) == value)
    }
  }

  /// A run that takes cells from a leaf merges it once it is small, and frees it once it is empty.
  @Test func leavesThatRunsEmptyAreMergedAndFreed() throws {
    let tree = try ArrayTree(pageSize: 4096)
    for number in 0..<4000 { _ = try tree.insert(bigEndian(number), []) }
    let leafCount = try tree.leaves().count
    for start in stride(from: 0, to: 4000, by: 40) {
      var cells = CellRun()
      for number in start..<start + 36 {
        Bytes.with(bigEndian(number)) { cells.appendRemoval(of: $0) }
      }
      try tree.source.enter()
      #expect(try tree.tree.apply(cells))
      tree.source.leave()
      #expect(tree.findings() == [])
    }
    #expect(try tree.leaves().count <= leafCount / 4)
    var rest = CellRun()
    for number in 0..<4000 where number % 40 >= 36 {
      Bytes.with(bigEndian(number)) { rest.appendRemoval(of: $0) }
    }
    try tree.source.enter()
    #expect(try tree.tree.apply(rest))
    tree.source.leave()
    #expect(tree.findings() == [])
    #expect(try tree.leaves().isEmpty)
  }
}
