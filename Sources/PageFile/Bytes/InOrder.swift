extension Array {
  /// Returns the elements by ascending numbers; elements of one number stay as they are.
  ///
  /// For lists that are short or seldom sorted. The sort of the standard library is compiled anew
  /// for each type and each comparison, to 3 KB; this one is compiled once, and allocates twice.
  package func inOrder(of number: (Element) -> UInt64) -> [Element] {
    count < 2 ? self : PageFile.order(of: map(number)).map { self[$0] }
  }
}

/// Returns the indices of numbers by ascending numbers.
@inline(never)
package func order(of numbers: [UInt64]) -> [Int] {
  numbers.indices.sorted {
    numbers[$0] == numbers[$1] ? $0 < $1 : numbers[$0] < numbers[$1]
  }
}
