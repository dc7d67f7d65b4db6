/// The free page numbers that the one writer may allocate.
///
/// Free are the numbers below the end that have no entry in the page table. They are collected
/// once, at the first write after opening, and tracked from then on. They are stored as ranges,
/// because a file may claim an arbitrarily high end.
package final class PageNumbers {
  /// The numbers free in the last commit; allocation takes from the end.
  private var free: [Range<UInt32>]
  /// The numbers that the open transaction has taken from `free`.
  private var taken: [PageNumber] = []
  /// The numbers that the open transaction has taken and given back.
  private var returned: [PageNumber] = []

  /// Creates the list of free numbers.
  /// - Parameter free: In ascending order; the lowest numbers are allocated first.
  package init(free: [Range<UInt32>]) { self.free = free.reversed() }

  /// Allocates a free number; returns nil if the next one has to come from the end.
  package func take() -> PageNumber? {
    if let number = returned.popLast() { return number }
    guard let range = free.popLast() else { return nil }
    if range.count > 1 { free.append(range.lowerBound + 1..<range.upperBound) }
    let number = PageNumber(range.lowerBound)
    taken.append(number)
    return number
  }

  /// Gives back a number that this transaction took or added at the end.
  package func returnWork(_ number: PageNumber) { returned.append(number) }

  /// Ends the transaction; the next one may reuse the numbers that it freed.
  package func commit(freed: [PageNumber]) {
    add(returned)
    add(freed)
    returned = []
    taken = []
  }

  /// Ends the transaction and restores the state before it.
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
