import PageFile

/// The pages of a damaged store in its last state: for each page number the version that counts,
/// taken from a slot or made by the log.
///
/// If the page table is lost, a version may be found that has since been replaced or freed, and
/// would bring back deleted data. Such a page is *uncertain* until something contradicts it: it is
/// stale if no branch leads to it, although the branch that would is there and is no older.
final class SalvagedPages {
  /// A version that counts.
  struct Entry {
    let page: SlotPage
    /// True if the page table, or the log alone, identifies this version.
    let isCertain: Bool
    /// The LSN up to which the page is known to show the true state.
    ///
    /// A page that the log makes from an uncertain version is no more certain than that version:
    /// patches of the wrong version may well produce a valid page.
    let provenLSN: LSN

    init(_ page: SlotPage, isCertain: Bool, provenLSN: LSN? = nil) {
      self.page = page
      self.isCertain = isCertain
      self.provenLSN = provenLSN ?? page.lsn
    }
  }

  private let reader: SlotReader
  /// Sorted by page number.
  private(set) var entries: [Entry] = []
  /// Pages made by the log, which lie in no slot.
  private var made: [UInt32: SalvagedPage] = [:]
  private(set) var state: SalvagedState?
  /// The last commit of the log, which the roots are of.
  private var rootsLSN = LSN.zero
  /// Pages known from the table or the log that are missing.
  private(set) var lost: [UInt32: (slot: SlotNumber, reason: String)] = [:]
  private var chainOwners = ChainOwners()
  /// The pages read most recently.
  private var cache: [(number: UInt32, page: SalvagedPage)?]
  private static let cacheCount = 512

  init(_ scan: SlotScan, _ claims: inout TableClaims) {
    reader = scan.reader
    cache = Array(repeating: nil, count: Self.cacheCount)
    var start = 0
    while start < scan.pages.count {
      let number = scan.pages[start].number
      var end = start + 1
      while end < scan.pages.count && scan.pages[end].number == number { end += 1 }
      if number > 0, let entry = Self.choose(scan.pages[start..<end], claims.claim(of: number)) {
        entries.append(entry)
      }
      start = end
    }
    claims.forEachNumber { number, entry in
      if index(of: number) == nil {
        lost[number] = (entry.slot, reader.reason(entry.slot, isNot: number))
      }
    }
  }

  /// Records that an overflow page is read for a value.
  ///
  /// Returns false if another value has claimed it.
  func claim(_ number: PageNumber, for owner: UInt64) -> Bool {
    chainOwners.claim(number, for: owner)
  }

  /// Returns the version in a slot that is the page, if any; see the rules of `TableClaims`.
  private static func choose(
    _ versions: ArraySlice<SlotPage>,
    _ known: (claim: TableClaims.Claim, lsn: LSN, isExact: Bool)
  ) -> Entry? {
    guard let newest = versions.first else { return nil }
    if !known.isExact && newest.lsn > known.lsn { return Entry(newest, isCertain: false) }
    switch known.claim {
    case .unknown: return Entry(newest, isCertain: false)
    case .free: return nil
    case .version(let entry):
      return versions.first { $0.check == entry.check }.map {
        Entry($0, isCertain: known.isExact)
      }
    }
  }

  // MARK: Reading

  private func index(of number: UInt32) -> Int? {
    let index = entries.firstIndex(inOrder: { $0.page.number >= number })
    return index < entries.count && entries[index].page.number == number ? index : nil
  }

  func entry(_ number: PageNumber) -> Entry? { index(of: number.rawValue).map { entries[$0] } }

  /// Returns a page that has passed the gate; nil if it is missing.
  func page(_ number: PageNumber) -> SalvagedPage? {
    if let page = made[number.rawValue] { return page }
    let place = Int(number.rawValue) % Self.cacheCount
    if let cached = cache[place], cached.number == number.rawValue { return cached.page }
    guard let entry = entry(number), let page = reader.read(entry.page) else { return nil }
    cache[place] = (number.rawValue, page)
    return page
  }

  /// Returns the LSN up to which a tree page is known to show the true state.
  func provenLSN(of page: SalvagedPage) -> LSN {
    entry(TreePage(page.bytes).number)?.provenLSN ?? .zero
  }

  func treePage(_ number: PageNumber) -> SalvagedPage? {
    guard let kind = entry(number)?.page.kind, kind == .leaf || kind == .branch else { return nil }
    return page(number)
  }

  /// The LSN of the newest page.
  var newestLSN: LSN { entries.map(\.page.lsn).max() ?? .zero }

  // MARK: The log

  /// Takes over the pages that the log has made.
  ///
  /// Where the slots have a newer page than any of them, later commits may have changed them.
  func apply(_ log: SalvagedLog) {
    let isLast = log.lsn >= newestLSN
    (state, rootsLSN) = (log.state, log.lsn)
    entries.removeAll { log.outcomes[$0.page.number] != nil }
    for (number, outcome) in log.outcomes {
      lost[number] = nil
      switch outcome {
      case .freed: break
      case .lost(let reason): lost[number] = (.none, reason)
      case .page(let page, let guess):
        guard let kind = PageKind(rawValue: page.bytes[PageHeader.kindOffset]) else { continue }
        made[number] = page
        entries.append(
          Entry(
            SlotPage(page.bytes, kind, slot: .none), isCertain: guess == nil && isLast,
            provenLSN: guess))
      }
    }
    entries.sort { $0.page.number < $1.page.number }
    cache = Array(repeating: nil, count: Self.cacheCount)
  }

  // MARK: Stale pages

  /// Removes uncertain pages that the tree above them does not refer to, from the top down.
  func removeStale() {
    guard entries.contains(where: { !$0.isCertain }) else { return }
    for level in stride(from: TreePage.maximumDepth - 1, through: 0, by: -1) {
      let pages = entries.filter { $0.page.isOfTree && Int($0.page.level) == level }
      guard pages.contains(where: { !$0.isCertain }) else { continue }
      let children = self.children(ofLevel: level + 1)
      let stale = pages.filter {
        !$0.isCertain && !children.contains($0.page.number) && isContradicted($0.page)
      }
      let numbers = Set(stale.map(\.page.number))
      if !numbers.isEmpty { entries.removeAll { numbers.contains($0.page.number) } }
    }
  }

  private func children(ofLevel level: Int) -> Set<UInt32> {
    var children: Set<UInt32> = []
    for entry in entries where entry.page.isOfTree && Int(entry.page.level) == level {
      guard let branch = page(PageNumber(entry.page.number)) else { continue }
      let page = TreePage(branch.bytes)
      for index in 0..<page.cellCount { children.insert(page.child(index).rawValue) }
    }
    return children
  }

  /// Returns true if the page that would lead to this one is there, is no older, and does not lead
  /// to it.
  private func isContradicted(_ slotPage: SlotPage) -> Bool {
    let tree = TreeNumber(Int(slotPage.tree))
    guard let root = state?.roots[tree], root.rawValue != slotPage.number else { return false }
    if root == .none { return rootsLSN >= slotPage.lsn }
    guard let page = page(PageNumber(slotPage.number)) else { return true }
    let view = TreePage(page.bytes)
    guard view.firstKeyIndex < view.cellCount else { return false }
    var key = ByteBuffer()
    view.key(view.firstKeyIndex).append(dropping: 0, to: &key)
    let above = descend(tree, toward: key.bytes, level: Int(slotPage.level) + 1)
    return above.map { provenLSN(of: $0) >= slotPage.lsn } ?? false
  }

  /// Returns the page of a level to which a key belongs, or the root if that is lower.
  ///
  /// Returns nil if the way there is lost, or if a page on the way may be out of date and
  /// misleading.
  ///
  /// However it was reached, the page shows, as of some moment, everything between two of its own
  /// keys. Before the first key and behind the last one, only the pages above tell how far it
  /// extends.
  func descend(_ tree: TreeNumber, toward key: Bytes, level: Int) -> SalvagedPage? {
    guard let root = state?.roots[tree], var found = treePage(root) else { return nil }
    var isCertain = entry(root)?.isCertain ?? false
    while TreePage(found.bytes).level > level {
      let page = TreePage(found.bytes)
      guard let next = treePage(page.child(page.childIndex(for: key))),
        TreePage(next.bytes).level == page.level - 1
      else { return nil }
      found = next
      isCertain = isCertain && (entry(TreePage(next.bytes).number)?.isCertain ?? false)
    }
    let page = TreePage(found.bytes)
    let index = page.search(key).index
    let isInside = index > page.firstKeyIndex && index < page.cellCount
    let isRoot = page.number == root && provenLSN(of: found) <= rootsLSN
    return isCertain || isInside || isRoot ? found : nil
  }

  // MARK: What is lost

  /// Returns every page that should be there and is missing, known from the table, the log, a root,
  /// or the branch above it.
  func lostPages() -> [LostPage] {
    var rest = lost
    var found: [LostPage] = []
    for index in 0..<Roots.maximumCount {
      guard let root = state?.roots[TreeNumber(index)], root != .none, entry(root) == nil else {
        continue
      }
      found.append(lostPage(root, &rest, tree: index, role: "the root of its tree"))
    }
    for entry in entries where entry.page.kind == .branch {
      guard let branch = page(PageNumber(entry.page.number)) else { continue }
      let page = TreePage(branch.bytes)
      for index in 0..<page.cellCount where self.entry(page.child(index)) == nil {
        var lost = lostPage(
          page.child(index), &rest, tree: page.tree.rawValue,
          role: page.level == 1 ? "a leaf" : "a branch")
        if index > 0 { lost.lower = page.wholeKey(index) }
        if index + 1 < page.cellCount { lost.upper = page.wholeKey(index + 1) }
        found.append(lost)
      }
    }
    for number in rest.keys.sorted() { found.append(lostPage(PageNumber(number), &rest)) }
    return found
  }

  private func lostPage(
    _ number: PageNumber, _ rest: inout [UInt32: (slot: SlotNumber, reason: String)],
    tree: Int? = nil, role: String? = nil
  ) -> LostPage {
    let known = rest.removeValue(forKey: number.rawValue)
    return LostPage(
      number: number, slot: known?.slot ?? .none, role: role,
      reason: known?.reason ?? "no slot holds it", tree: tree)
  }
}

extension SlotPage {
  /// True for a leaf or a branch.
  var isOfTree: Bool { kind == .leaf || kind == .branch }
}

extension TreePage {
  /// Returns a key in one piece.
  func wholeKey(_ index: Int) -> [UInt8] {
    var buffer = ByteBuffer()
    key(index).append(dropping: 0, to: &buffer)
    return buffer.bytes.array()
  }
}
