import PageFile
import Testing

/// Page numbers are given out once at a time, and a rollback makes everything as it was.
struct PageNumbersTests {
  @Test func lowestNumbersGoFirst() {
    let numbers = PageNumbers(free: [2..<4, 7..<8])
    #expect((0..<4).map { _ in numbers.take()?.rawValue } == [2, 3, 7, nil])
  }

  @Test func behavesLikeASet() {
    var random = SeededGenerator()
    for _ in 0..<40 {
      let numbers = PageNumbers(free: [3..<9, 20..<21, 30..<60])
      var free = Set<UInt32>(3..<9).union([20]).union(30..<60)
      var end: UInt32 = 60
      var used = Set<UInt32>(1..<60).subtracting(free)
      for _ in 0..<20 {
        var transaction = OneTransaction(free: free, used: used, end: end)
        for _ in 0..<random.below(30) { transaction.step(numbers, &random) }
        if random.below(3) == 0 {
          numbers.rollback()
        } else {
          numbers.commit(freed: transaction.freed.map { PageNumber($0) })
          (free, used, end) = (
            transaction.freeAfterCommit, transaction.usedAfterCommit, transaction.end
          )
        }
      }
      var left = Set<UInt32>()
      while let number = numbers.take() {
        #expect(left.insert(number.rawValue).inserted, "\(number) is given out twice")
      }
      #expect(left == free)
    }
  }

  /// What a transaction has done to the numbers, as plain sets.
  private struct OneTransaction {
    var free: Set<UInt32>
    var used: Set<UInt32>
    var end: UInt32
    var own: [UInt32] = []
    var returned: Set<UInt32> = []
    var freed: [UInt32] = []

    var freeAfterCommit: Set<UInt32> { free.union(returned).union(freed) }
    var usedAfterCommit: Set<UInt32> { used.union(own).subtracting(freed) }

    mutating func step(_ numbers: PageNumbers, _ random: inout SeededGenerator) {
      switch random.below(4) {
      case 0 where !own.isEmpty:
        let number = own.remove(at: random.below(own.count))
        numbers.returnWork(PageNumber(number))
        returned.insert(number)
      case 1:
        // What was there before the transaction is used again only by the next one.
        if let number = used.subtracting(freed).randomElement(using: &random) {
          freed.append(number)
        }
      default: take(numbers)
      }
    }

    private mutating func take(_ numbers: PageNumbers) {
      guard let number = numbers.take()?.rawValue else {
        #expect(free.isEmpty && returned.isEmpty, "a free number was not found")
        own.append(end)
        end += 1
        return
      }
      let isFree = free.remove(number) != nil
      let isReturned = returned.remove(number) != nil
      #expect(isFree != isReturned, "\(number) is not free")
      own.append(number)
    }
  }
}
