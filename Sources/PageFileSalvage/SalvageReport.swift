package import PageFile

/// The report of a salvage on a damaged store's files: plain values, meant for printing.

/// A page that is missing or damaged.
package struct LostPage: Sendable {
  /// The page number; nil for pages of the page table, and if unknown.
  package var number: PageNumber?
  /// The page's slot; none if only its parent knows of the page, or if it was in the log.
  package var slot = SlotNumber.none
  /// The kind of the page, if known.
  package var role: String?
  package var reason: String
  package var tree: Int?
  /// The lower bound of its keys; nil if they begin with the first key, or if unknown.
  package var lower: [UInt8]?
  /// The bound that its keys lie below; nil if they reach to the last key, or if unknown.
  package var upper: [UInt8]?
}

/// A commit that is in a WAL file and could not be applied.
package struct LostCommit: Sendable {
  package var lsn: LSN
  package var file: String
  package var offset: Int
  package var frameCount: Int
  /// True if a witness in the log says that the commit was on the medium.
  ///
  /// A commit without a witness may be the unfinished end of a log, which a crash may drop.
  package var wasDurable: Bool
}

/// The whole report.
package struct SalvageReport: Sendable {
  package var storeID = ""
  package var pageByteCount = 0
  package var slotCount = 0
  /// The number of pages found that belong to the last state of the store.
  package var pageCount = 0
  /// The last commit contained in the data read.
  package var lastLSN = LSN.zero
  /// Faults of the files as a whole, one sentence each.
  package var findings: [String] = []
  package var lostPages: [LostPage] = []
  package var lostCommits: [LostCommit] = []

  /// Adds slots that may have held a page, if no table says which.
  mutating func addUnknown(_ slots: [SlotNumber]) {
    let known = Set(lostPages.map(\.slot))
    for slot in slots where !known.contains(slot) {
      lostPages.append(
        LostPage(number: nil, slot: slot, reason: "contents cannot be verified"))
    }
  }

  /// True if everything that was ever acknowledged was found.
  package var isWhole: Bool {
    findings.isEmpty && lostPages.isEmpty && !lostCommits.contains(where: \.wasDurable)
  }
}
