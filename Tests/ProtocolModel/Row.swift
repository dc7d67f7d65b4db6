/// A fixed number of values in place, so that a state is copied without references.
///
/// `InlineArray` would be the same, but exists only on Apple's systems of 2025.
struct Row<Tuple, Element> {
  private var tuple: Tuple

  private init(tuple: Tuple) { self.tuple = tuple }

  private static var count: Int { MemoryLayout<Tuple>.stride / MemoryLayout<Element>.stride }

  subscript(index: Int) -> Element {
    get {
      precondition(index >= 0 && index < Self.count, "row: index out of bounds")
      // Unsafe: the index is checked, and a tuple of one type lies in memory like an array.
      return unsafe withUnsafePointer(to: tuple) {
        unsafe UnsafeRawPointer($0).assumingMemoryBound(to: Element.self)[index]
      }
    }
    set {
      precondition(index >= 0 && index < Self.count, "row: index out of bounds")
      unsafe withUnsafeMutablePointer(to: &tuple) {
        unsafe UnsafeMutableRawPointer($0).assumingMemoryBound(to: Element.self)[index] = newValue
      }
    }
  }
}

typealias Row2<E> = Row<(E, E), E>
typealias Row5<E> = Row<(E, E, E, E, E), E>
typealias Row6<E> = Row<(E, E, E, E, E, E), E>
typealias Row8<E> = Row<(E, E, E, E, E, E, E, E), E>
typealias Row16<E> = Row<(E, E, E, E, E, E, E, E, E, E, E, E, E, E, E, E), E>

extension Row where Tuple == (Element, Element) {
  init(repeating e: Element) { self.init(tuple: (e, e)) }
}

extension Row where Tuple == (Element, Element, Element, Element, Element) {
  init(repeating e: Element) { self.init(tuple: (e, e, e, e, e)) }
}

extension Row where Tuple == (Element, Element, Element, Element, Element, Element) {
  init(repeating e: Element) { self.init(tuple: (e, e, e, e, e, e)) }
}

extension Row
where Tuple == (Element, Element, Element, Element, Element, Element, Element, Element) {
  init(repeating e: Element) { self.init(tuple: (e, e, e, e, e, e, e, e)) }
}

extension Row
where
  Tuple == (
    Element, Element, Element, Element, Element, Element, Element, Element,
    Element, Element, Element, Element, Element, Element, Element, Element
  )
{
  init(repeating e: Element) { self.init(tuple: (e, e, e, e, e, e, e, e, e, e, e, e, e, e, e, e)) }
}
