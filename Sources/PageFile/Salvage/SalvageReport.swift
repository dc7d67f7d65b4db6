/// What a salvage tells about a damaged store's files: plain values, made for being printed.

/// A page that is gone, or that would be there if it were not damaged.
package struct LostPage: Sendable {
  /// nil for pages of the page table, and where nobody knows.
  package var number: PageNumber?
  /// Where it was; none where only its parent knows of it, or when it was in the log.
  package var slot = SlotNumber.none
  /// What the page was, where that is known.
  package var role: String?
  package var reason: String
  package var tree: Int?
  /// Its keys lay at or above this; nil: from the first on, or not known.
  package var lower: [UInt8]?
  /// Its keys lay below this; nil: up to the last, or not known.
  package var upper: [UInt8]?
}

/// A commit that is in a WAL file and could not be applied.
package struct LostCommit: Sendable {
  package var lsn: LSN
  package var file: String
  package var offset: Int
  package var frameCount: Int
  /// Whether something in the log says that it was on the medium.
  ///
  /// One that was not may be the unfinished end of a log, which no crash may keep.
  package var wasDurable: Bool
}

/// All of it.
package struct SalvageReport: Sendable {
  package var storeID = ""
  package var pageByteCount = 0
  package var slotCount = 0
  /// Pages that were found and belong to the store as it was last.
  package var pageCount = 0
  /// The last commit that is in what was read.
  package var lastLSN = LSN.zero
  /// What is wrong with the files as a whole, a sentence each.
  package var findings: [String] = []
  package var lostPages: [LostPage] = []
  package var lostCommits: [LostCommit] = []

  /// Adds slots that may have held a page, where no table says which did.
  mutating func addUnknown(_ slots: [SlotNumber]) {
    let known = Set(lostPages.map(\.slot))
    for slot in slots where !known.contains(slot) {
      lostPages.append(
        LostPage(number: nil, slot: slot, reason: "nothing in it can be proven"))
    }
  }

  /// Whether all that was ever acknowledged is there.
  package var isWhole: Bool {
    findings.isEmpty && lostPages.isEmpty && !lostCommits.contains(where: \.wasDurable)
  }
}
