import PageFile
import Simulation
import Testing

/// A tree must do what a sorted array does, whatever is done to it in whatever order.
struct TreeModelTests {
  struct Plan: CustomStringConvertible, Sendable {
    let pageSize: Int
    let keys: KeyShape
    let operationCount: Int
    var description: String { "\(keys), pages of \(pageSize)" }
  }

  /// What keys look like: each shape leads to other pages.
  enum KeyShape: Sendable, CaseIterable {
    case short, anyLength, twoLetters, threads, longPrefix
  }

  static let plans: [Plan] = [4096, 8192].flatMap { pageSize in
    KeyShape.allCases.map {
      Plan(
        pageSize: pageSize, keys: $0, operationCount: Scale.count(debug: 1200, release: 2500))
    }
  }

  @Test(arguments: plans)
  func behavesLikeASortedArray(_ plan: Plan) throws {
    let seed = SeededGenerator.freshSeed()
    print("behavesLikeASortedArray (\(plan)) seed \(seed)")
    var run = try Run(plan: plan, seed: seed)
    do {
      try run.play()
    } catch {
      Issue.record("seed \(seed), \(plan): \(error)")
    }
  }

  struct Mismatch: Error, CustomStringConvertible {
    let description: String
  }

  /// One run of random operations beside its model.
  struct Run {
    let plan: Plan
    var random: SeededGenerator
    let tree: ArrayTree
    var model: [(key: [UInt8], value: [UInt8])] = []

    init(plan: Plan, seed: UInt64) throws(PageFileError) {
      self.plan = plan
      random = SeededGenerator(seed: seed)
      tree = try ArrayTree(pageSize: plan.pageSize)
    }

    mutating func play() throws {
      // The tree grows, lives, shrinks, and grows again, so pages are merged as well as split.
      for operation in 0..<plan.operationCount {
        let phase = operation * 4 / plan.operationCount
        let insertPercent = [80, 50, 15, 60][phase]
        if random.below(100) < insertPercent { try insert() } else { try remove() }
        if random.below(8) == 0 { try rekey() }
        if random.below(4) == 0 { try lookup() }
        if random.below(8) == 0 { try seek() }
        if operation % 250 == 0 { try compareAll() }
      }
      try compareAll()
      while !model.isEmpty { try remove() }
      try compareAll()
      try expect(tree.source.root(of: treeUnderTest) == .none, "an empty tree has no root")
    }

    func expect(_ isTrue: Bool, _ what: @autoclosure () -> String) throws {
      if !isTrue { throw Mismatch(description: what()) }
    }

    func index(_ key: [UInt8]) -> (index: Int, isEqual: Bool) {
      var low = 0
      var high = model.count
      while low < high {
        let middle = (low + high) / 2
        if model[middle].key.lexicographicallyPrecedes(key) {
          low = middle + 1
        } else {
          high = middle
        }
      }
      return (low, low < model.count && model[low].key == key)
    }

    mutating func key() -> [UInt8] {
      if !model.isEmpty && random.below(4) == 0 { return model[random.below(model.count)].key }
      switch plan.keys {
      case .short: return random.bytes(1 + random.below(8))
      case .anyLength: return random.bytes(1 + random.below(512))
      case .twoLetters:
        return (0..<1 + random.below(20)).map { _ in random.below(2) == 0 ? 0 : 255 }
      case .threads:
        return bigEndian(random.below(5)) + bigEndian(random.below(3000))
      case .longPrefix:
        let prefix = [UInt8](repeating: 7, count: 480 + random.below(10) / 9 * random.below(20))
        return prefix + random.bytes(1 + random.below(12))
      }
    }

    mutating func value() -> [UInt8] {
      switch random.below(50) {
      case 0: random.bytes(random.below(50_000))
      case 1...4: random.bytes(random.below(plan.pageSize))
      case 5...9: []
      default: random.bytes(random.below(120))
      }
    }

    mutating func insert() throws {
      let key = key()
      let value = value()
      let (index, exists) = index(key)
      try expect(try tree.insert(key, value) == exists, "insert says the wrong thing")
      if exists { model[index].value = value } else { model.insert((key, value), at: index) }
    }

    mutating func remove() throws {
      let isHit = !model.isEmpty && random.below(10) > 0
      let key = isHit ? model[random.below(model.count)].key : key()
      let (index, exists) = index(key)
      try expect(try tree.remove(key) == exists, "remove says the wrong thing")
      if exists { model.remove(at: index) }
    }

    /// Often to a key of the same length close by, and with the same value: the cell stays then.
    mutating func rekey() throws {
      let isHit = !model.isEmpty && random.below(10) > 0
      let old: (key: [UInt8], value: [UInt8]) =
        isHit ? model[random.below(model.count)] : (key(), self.value())
      var other = key()
      if random.below(4) > 0 {
        other = old.key
        other[other.count - 1] = random.bytes(1)[0]
      }
      let value = random.below(4) > 0 ? old.value : self.value()
      let (index, exists) = self.index(old.key)
      try expect(try tree.rekey(old.key, to: other, value) == exists, "rekey says the wrong thing")
      guard exists else { return }
      model.remove(at: index)
      let (target, isTaken) = self.index(other)
      if isTaken { model[target].value = value } else { model.insert((other, value), at: target) }
    }

    mutating func lookup() throws {
      let key = key()
      let (index, exists) = index(key)
      try expect(try tree.contains(key) == exists, "contains is wrong")
      try expect(try tree.value(key) == (exists ? model[index].value : nil), "a value is wrong")
    }

    /// A cursor is put down anywhere and walked to and fro, over the ends too.
    mutating func seek() throws {
      try tree.source.enter()
      defer { tree.source.leave() }
      var cursor = Cursor(tree.source, treeUnderTest)
      let key = key()
      var (place, exists) = index(key)
      let isEqual = try Bytes.with(key) { (key) throws(PageFileError) in try cursor.seek(key) }
      try expect(isEqual == exists, "seek says the wrong thing")
      for _ in 0..<random.below(60) {
        try compare(cursor, place)
        if random.below(2) == 0 {
          place = min(place + 1, model.count)
          try expect(try cursor.next() == (place < model.count), "next says the wrong thing")
        } else {
          place = max(place - 1, -1)
          try expect(try cursor.previous() == (place >= 0), "previous says the wrong thing")
        }
      }
    }

    func compare(_ cursor: borrowing Cursor, _ place: Int) throws {
      let isCell = model.indices.contains(place)
      try expect(cursor.isAtCell == isCell, "the cursor is off its place")
      guard isCell else { return }
      let (key, value) = try cursor.cell()
      try expect(key == model[place].key, "the cursor's key is wrong")
      try expect(value == model[place].value, "the cursor's value is wrong")
      try expect(cursor.keyByteCount == key.count, "the key's length is wrong")
      try expect(cursor.valueByteCount == value.count, "the value's length is wrong")
      try Bytes.with(key) { (bytes) throws in
        try expect(cursor.compareKey(to: bytes) == 0, "a key differs from itself")
        let half = bytes.slice(0, key.count / 2)
        try expect(cursor.keyHasPrefix(half) && cursor.keyHasPrefix(bytes), "a prefix is not one")
        var rest = ByteBuffer()
        cursor.appendKey(to: &rest, dropping: half.count)
        try expect(rest.bytes.array() == Array(key[half.count...]), "the key's rest is wrong")
      }
    }

    func compareAll() throws {
      let findings = tree.findings()
      try expect(findings.isEmpty, findings.joined(separator: "\n"))
      // A page that the tree has lost is in use in the file and reached from nowhere.
      let fileFindings = try tree.store.commitAndCheck()
      try expect(fileFindings.isEmpty, "\(fileFindings)")
      try tree.source.enter()
      defer { tree.source.leave() }
      var cursor = Cursor(tree.source, treeUnderTest)
      for place in model.indices {
        try expect(try place == 0 ? cursor.first() : cursor.next(), "the tree ends early")
        try compare(cursor, place)
      }
      try expect(try !cursor.next() && !cursor.next() && !cursor.isAtCell, "the tree ends late")
      for place in model.indices.reversed() {
        try expect(try cursor.previous(), "the tree begins early")
        try compare(cursor, place)
      }
      try expect(try !cursor.previous() && !cursor.previous(), "the tree begins late")
      try expect(try cursor.next() == !model.isEmpty, "the start leads nowhere")
      try expect(try cursor.last() == !model.isEmpty, "last finds nothing")
      try compare(cursor, model.count - 1)
    }
  }
}
