/// Page numbers that are free to be given out, for the one writer.
///
/// The page table says which they are: numbers below the end with no entry. They are collected once,
/// at the first write after opening, and kept from then on. As ranges, because a file may claim any
/// end it likes.
package final class PageNumbers {
  /// Free in the last commit; what is to be taken first at the end.
  private var free: [Range<UInt32>]
  /// Taken from `free` by the transaction that is open.
  private var taken: [PageNumber] = []
  /// Taken and given back by the transaction that is open.
  private var returned: [PageNumber] = []

  /// - Parameter free: Ascending; the lowest are given out first.
  package init(free: [Range<UInt32>]) { self.free = free.reversed() }

  /// A free number, or nil when the next one has to come from the end.
  package func take() -> PageNumber? {
    if let number = returned.popLast() { return number }
    guard let range = free.popLast() else { return nil }
    if range.count > 1 { free.append(range.lowerBound + 1..<range.upperBound) }
    let number = PageNumber(range.lowerBound)
    taken.append(number)
    return number
  }

  /// Gives back a number that this transaction took or added at the end.
  package func giveBack(_ number: PageNumber) { returned.append(number) }

  /// Ends the transaction; the pages it freed may be used by the next.
  package func commit(freed: [PageNumber]) {
    add(returned)
    add(freed)
    returned = []
    taken = []
  }

  /// Ends the transaction as if it had not been.
  package func rollback() {
    add(taken.reversed())
    if Defect.numbersGivenTwice.isPlanted { add(returned) }
    returned = []
    taken = []
  }

  private func add(_ numbers: [PageNumber]) {
    for number in numbers { free.append(number.rawValue..<number.rawValue + 1) }
  }
}
