/// The mark against going back: an LSN that the app keeps where copies of the store do not reach.
extension Engine {
  /// The last LSN that is known to be durable, whatever happens to the system's memory; the mark
  /// given at opening while less is known.
  var mark: LSN {
    let (side, recovered) = state.withLock { ($0.writing, $0.recovered) }
    let known: LSN
    if let side {
      known = Defect.markNotDurable.isPlanted ? side.wal.lastLSN : side.wal.durableLSN
    } else if recovered.isClean || recovered.meta.writer == .turn {
      // Every commit that such a slot counts was on the medium before the slot was written. A slot
      // written by an opening may be in the system's memory only, as may be the log that it
      // counts.
      known = recovered.meta.checkpointLSN
    } else {
      known = .zero
    }
    return max(known, options.mark ?? .zero)
  }

  /// Throws `rolledBack` for a store that ends before the mark.
  ///
  /// A database that is resumed also has to find all that it knew to be durable; see
  /// `refuseOther`.
  static func refuseOlder(than options: DatabaseOptions, found: LSN) throws(PageFileError) {
    guard let expected = options.mark else { return }
    guard found >= expected || Defect.markIgnored.isPlanted else {
      throw .rolledBack(found: found, expected: expected)
    }
  }
}
