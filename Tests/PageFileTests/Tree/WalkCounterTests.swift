import PageFile
import Testing

/// The walks that operations of a tree make.
@Suite(.enabled(if: _isDebugAssertConfiguration(), "walks are counted in debug builds only"))
struct WalkCounterTests {
  private static func key(_ number: Int) -> [UInt8] {
    [UInt8(number >> 8), UInt8(number & 0xFF), 0, 0]
  }

  /// A tree of two levels.
  private func makeTree() throws -> ArrayTree {
    let tree = try ArrayTree(pageSize: 4096)
    for number in 0..<600 { _ = try tree.insert(Self.key(number), Array(repeating: 7, count: 20)) }
    return tree
  }

  private func walks(_ body: () throws -> Void) rethrows -> [Int] {
    let counter = WalkCounter()
    try WalkCounter.current.withValue(counter) { try body() }
    let counts = counter.counts
    return [counts.read[treeUnderTest] ?? 0, counts.write[treeUnderTest] ?? 0]
  }

  @Test func lookupsReadAndChangesWrite() throws {
    let tree = try makeTree()
    #expect(try walks { _ = try tree.value(Self.key(5)) } == [1, 0])
    #expect(try walks { _ = try tree.contains(Self.key(300)) } == [1, 0])
    #expect(try walks { _ = try tree.insert(Self.key(5), [1]) } == [0, 1])
    #expect(try walks { _ = try tree.remove(Self.key(300)) } == [0, 1])
  }

  @Test func rekeyIsOneWalkWithinALeafAndTwoBetweenLeaves() throws {
    let tree = try makeTree()
    let value = [UInt8](repeating: 7, count: 20)
    let near = Self.key(300).dropLast() + [9]
    #expect(try walks { _ = try tree.rekey(Self.key(300), to: Array(near), value) } == [0, 1])
    let longer = Self.key(301) + [1]
    #expect(try walks { _ = try tree.rekey(Self.key(301), to: longer, value) } == [0, 0])
    let far = Self.key(10).dropLast() + [9]
    #expect(try walks { _ = try tree.rekey(Self.key(500), to: Array(far), value) } == [0, 2])
    #expect(try walks { _ = try tree.rekey(Self.key(500), to: Array(far), value) } == [0, 1])
    let (last, beyond) = (Self.key(599), Self.key(700))
    #expect(try walks { _ = try tree.rekey(last, to: beyond, value) } == [0, 1])
    #expect(try tree.value(longer) == value && tree.value(Array(far)) == value)
  }

  @Test func nothingIsCountedWithoutACounter() throws {
    let tree = try makeTree()
    let counter = WalkCounter()
    _ = try tree.value(Self.key(5))
    #expect(counter.counts.read.isEmpty)
  }
}
