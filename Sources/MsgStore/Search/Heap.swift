/// A binary heap with its greatest element first.
struct Heap<Element: Comparable & Sendable>: Sendable {
  private var elements: [Element] = []

  var first: Element? { elements.first }

  /// The greatest element but the first.
  var second: Element? {
    guard elements.count > 2 else { return elements.count > 1 ? elements[1] : nil }
    return max(elements[1], elements[2])
  }

  @inline(never)
  mutating func push(_ element: Element) {
    elements.append(element)
    var index = elements.count - 1
    while index > 0, case let parent = (index - 1) / 2, elements[parent] < elements[index] {
      elements.swapAt(index, parent)
      index = parent
    }
  }

  mutating func popFirst() -> Element? {
    guard let first = elements.first, let last = elements.popLast() else { return nil }
    if elements.isEmpty { return first }
    elements[0] = last
    var index = 0
    while true {
      var greatest = index
      for child in [2 * index + 1, 2 * index + 2]
      where child < elements.count && elements[greatest] < elements[child] {
        greatest = child
      }
      if greatest == index { return first }
      elements.swapAt(index, greatest)
      index = greatest
    }
  }
}
