/// A value too long for a leaf, stored in a chain of overflow pages.
///
/// The cell holds the value's length, and the gate ensures that all links but the last are full. A
/// chain therefore has to end exactly where the length says, which also ends every walk along a
/// cycle.
package struct OverflowChain {
  package let byteCount: Int
  package let first: PageNumber

  /// Writes a non-empty value to new pages.
  package static func write(
    _ value: Bytes, to source: PageSource
  ) throws(PageFileError) -> OverflowChain {
    let capacity = OverflowPage.capacity(pageSize: source.pageSize)
    var (first, last) = (PageNumber.none, MutableBytes?.none)
    var offset = 0
    while offset < value.count {
      let (number, page) = try source.allocate(.overflow, level: 0)
      let part = value.slice(offset, min(capacity, value.count - offset))
      OverflowPage.write(part, to: page)
      if let last { OverflowPage.setNext(number, of: last) } else { first = number }
      last = page
      offset += part.count
    }
    return OverflowChain(byteCount: value.count, first: first)
  }

  /// Visits each link by number, calling `arrive` before it is read and `body` once it is
  /// validated.
  ///
  /// The next link is determined before `body` runs, since `body` may free the current one. A link
  /// is valid only until `body` returns, not until `leave`, because a value may have more links
  /// than fit in memory.
  private func forEachLink(
    in source: PageSource,
    arrive: (PageNumber) throws(PageFileError) -> Void = { (_) throws(PageFileError) in },
    _ body: (PageNumber, OverflowPage) throws(PageFileError) -> Void
  ) throws(PageFileError) {
    var number = first
    var rest = byteCount
    while rest > 0 {
      number = try source.reading { () throws(PageFileError) in
        try visitLink(number, &rest, in: source, arrive: arrive, body)
      }
    }
  }

  /// Visits one link and returns the number of the next.
  @inline(never)
  private func visitLink(
    _ number: PageNumber, _ rest: inout Int, in source: PageSource,
    arrive: (PageNumber) throws(PageFileError) -> Void,
    _ body: (PageNumber, OverflowPage) throws(PageFileError) -> Void
  ) throws(PageFileError) -> PageNumber {
    guard number != .none else {
      throw .corruptPage(first, reason: "an overflow chain is too short for its value")
    }
    try arrive(number)
    let link = OverflowPage(try source.page(number))
    guard link.bytes[PageHeader.kindOffset] == PageKind.overflow.rawValue else {
      throw .corruptPage(number, reason: "an overflow chain leads to a page of another kind")
    }
    let next = link.next
    rest -= link.content.count
    guard rest >= 0, rest > 0 || next == .none else {
      throw .corruptPage(number, reason: "an overflow chain is too long for its value")
    }
    try body(number, link)
    return next
  }

  /// Appends the value.
  ///
  /// Reads one page per link.
  ///
  /// - Parameter owner: A number that identifies the cell; see `PageSource.refuseSharedChains`.
  func append(
    from source: PageSource, for owner: UInt64, to buffer: inout ByteBuffer
  ) throws(PageFileError) {
    try forEachLink(in: source) { (number) throws(PageFileError) in
      try source.claim(number, for: owner)
    } _: { (_, link) throws(PageFileError) in
      buffer.append(link.content)
    }
  }

  /// Frees all links.
  package func free(in source: PageSource) throws(PageFileError) {
    try forEachLink(in: source) { (number, _) throws(PageFileError) in try source.free(number) }
  }

  /// Walks the chain for a check, pausing at each link.
  ///
  /// Calls `reach` with each page before it is read; the walk continues only if that returns true.
  @inline(never)
  package func check(
    in source: PageSource, reach: (PageNumber) -> Bool
  ) throws(PageFileError) {
    try forEachLink(in: source) { (number) throws(PageFileError) in
      guard reach(number) else {
        throw .corruptPage(number, reason: "the page is reached twice")
      }
    } _: { (number, link) throws(PageFileError) in
      if let broken = OverflowPage.ruleBroken(link.bytes) {
        throw .corruptPage(number, reason: broken)
      }
      try source.pause()
    }
  }
}
