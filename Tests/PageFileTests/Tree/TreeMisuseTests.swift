import PageFile
import Testing

/// A caller's mistakes trap; they are never taken for something else.
struct TreeMisuseTests {
  @Test func anEmptyKeyTraps() async {
    await #expect(processExitsWith: .failure) {
      _ = try ArrayTree(pageSize: 4096).insert([], [1])
    }
  }

  @Test func aKeyAboveTheLimitTraps() async {
    await #expect(processExitsWith: .failure) {
      _ = try ArrayTree(pageSize: 4096).contains([UInt8](repeating: 1, count: 513))
    }
  }

  @Test func readingBehindTheLastCellTraps() async {
    await #expect(processExitsWith: .failure) {
      let tree = try ArrayTree(pageSize: 4096)
      _ = try tree.insert([1], [1])
      try tree.source.enter()
      var cursor = Cursor(tree.source, treeUnderTest)
      while try cursor.next() {}
      print(cursor.keyByteCount)
    }
  }
}
