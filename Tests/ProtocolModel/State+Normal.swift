/// Making states alike that behave alike, so that each is explored once.
extension State {
  /// Forgets what nobody can ever read, and counts from the lowest number in use.
  ///
  /// - Parameter keepsRemains: Whether commits of earlier lives matter, because the rule that tells
  ///   them apart is missing.
  /// - Parameter keepsFreeSlots: Whether pages in free slots matter, because somebody looks at them.
  mutating func normalise(keepsRemains: Bool, keepsFreeSlots: Bool) {
    releaseRetired()
    if !keepsFreeSlots { forgetFreeSlots() }
    if !keepsRemains { forgetRemains() }
    forgetLives()
    countFromOne()
    if readers.0.bits < readers.1.bits { readers = (readers.1, readers.0) }
  }

  /// Frees slots that no snapshot refers to any more: the engine does so at some later moment.
  private mutating func releaseRetired() {
    guard isWriting else { return }
    var oldest = process.version
    for reader in [readers.0, readers.1] where reader.isOpen && !reader.hasExpired {
      oldest = min(oldest, reader.version)
    }
    for slot in 1..<8 where process.retired[slot] != 0 && process.retired[slot] < oldest {
      process.retired[slot] = 0
      process.used &= ~(1 << UInt8(slot))
    }
  }

  private mutating func forgetFreeSlots() {
    var referred =
      process.meta.slots | process.next.slots | process.shown.slots
      | process.stale.slots
    for index in 0..<2 {
      metas[index].forEachContent { referred |= Meta(bits: $0).slots }
    }
    for reader in [readers.0, readers.1] where reader.isOpen {
      referred |= 1 << reader.slot(0) | 1 << reader.slot(1)
    }
    for slot in 1..<8 where referred & 1 << UInt8(slot) == 0 { slots[slot] = Cell() }
  }

  /// Commits and watermarks whose life the file's header has left behind count for nobody: a header
  /// never names a life again.
  private mutating func forgetRemains() {
    for file in 0..<2 {
      var living: UInt16 = 0
      headers[file].forEachContent { if Header.isInUse($0) { living |= 1 << UInt16($0) } }
      for index in 0..<Self.placeCount {
        let commits = commits
        log[Self.place(file, index)].mapContents { bits in
          let entry = Entry(bits: bits)
          let life = entry.isWatermark ? entry.watermarkLife : commits[entry.number].life
          return living & 1 << UInt16(life) == 0 ? 0 : bits
        }
      }
    }
  }

  private mutating func forgetLives() {
    var namedLives: UInt16 = 1 << UInt16(process.newLife) | 1 << UInt16(process.meta.life)
    namedLives |= 1 << UInt16(process.next.life) | 1 << UInt16(process.stale.life)
    var namedCommits: UInt8 = 0
    for index in 0..<2 {
      metas[index].forEachContent { namedLives |= 1 << UInt16(Meta(bits: $0).life) }
      headers[index].forEachContent { if Header.isInUse($0) { namedLives |= 1 << UInt16($0) } }
    }
    for index in 0..<2 * Self.placeCount {
      log[index].forEachContent { bits in
        let entry = Entry(bits: bits)
        if entry.isWatermark { namedLives |= 1 << UInt16(entry.watermarkLife) }
        if entry.isCommit { namedCommits |= 1 << UInt8(entry.number) }
      }
    }
    for number in 1..<5 {
      if namedCommits & 1 << UInt8(number) != 0 {
        namedLives |= 1 << UInt16(commits[number].life)
      } else {
        commits[number] = CommitFacts()
      }
    }
    for life in 1..<16 where namedLives & 1 << UInt16(life) == 0 { lives[life] = Life() }
  }

  /// Only the order of counters, write numbers and versions matters, and their distance from the
  /// greatest: so the lowest becomes 1.
  private mutating func countFromOne() {
    var counter = UInt8.max
    for life in 1..<16 where lives[life].counter != 0 {
      counter = min(counter, lives[life].counter)
    }
    for life in 1..<16 where lives[life].counter != 0 { lives[life].counter -= counter - 1 }

    var number = UInt8.max
    for index in 0..<2 {
      metas[index].forEachContent { if $0 != 0 { number = min(number, Meta(bits: $0).number) } }
    }
    for index in 0..<2 {
      metas[index].mapContents { bits in
        var meta = Meta(bits: bits)
        if meta.isReadable { meta.number -= number - 1 }
        return meta.bits
      }
    }

    guard phase != .opening else { return }
    var version = process.version
    for slot in 1..<8 where process.retired[slot] != 0 {
      version = min(version, process.retired[slot])
    }
    for reader in [readers.0, readers.1] where reader.isOpen {
      version = min(version, reader.version)
    }
    process.version -= version - 1
    for slot in 1..<8 where process.retired[slot] != 0 { process.retired[slot] -= version - 1 }
    if readers.0.isOpen { readers.0.version -= version - 1 }
    if readers.1.isOpen { readers.1.version -= version - 1 }
  }

  /// The state's place in the table of those already seen.
  var fingerprint: UInt64 {
    var print = Fingerprint()
    for index in 0..<2 {
      metas[index].mix(into: &print)
      names[index].mix(into: &print)
      headers[index].mix(into: &print)
      sizes[index].mix(into: &print)
    }
    for index in 0..<8 {
      log[index].mix(into: &print)
      slots[index].mix(into: &print)
    }
    for number in 1..<5 {
      let facts = commits[number]
      print.mix(
        UInt64(facts.before) | UInt64(facts.durableLSN) << 8 | UInt64(facts.life) << 16
          | UInt64(number) << 24)
    }
    for life in 1..<16 {
      print.mix(
        UInt64(lives[life].counter) | UInt64(lives[life].before) << 8 | UInt64(life) << 16)
    }
    let promised = UInt64(history) | UInt64(durableLSN) << 8 | UInt64(nextCommit) << 16
    print.mix(
      promised | UInt64(turnsLeft) << 24 | UInt64(crashesLeft) << 32 | UInt64(closesLeft) << 40
        | UInt64(phase.rawValue) << 48 | UInt64(failedSyncsLeft) << 56)
    print.mix(
      UInt64(movesLeft) | UInt64(refusalsLeft) << 8 | UInt64(process.orphans) << 16
        | UInt64(growthsLeft) << 24)
    print.mix(UInt64(readers.0.bits) | UInt64(readers.1.bits) << 32)
    process.mix(into: &print)
    return print.value
  }
}

extension Process {
  fileprivate func mix(into print: inout Fingerprint) {
    let steps = UInt64(opening.rawValue) | UInt64(checkpoint.rawValue) << 8
    print.mix(
      steps | UInt64(groupSync.rawValue) << 16 | UInt64(version) << 24 | UInt64(used) << 32
        | UInt64(current) << 40 | UInt64(place) << 48 | UInt64(ended) << 56)
    print.mix(UInt64(meta.bits) | UInt64(next.bits) << 32)
    print.mix(UInt64(shown.bits) | UInt64(stale.bits) << 32)
    var versions: UInt64 = 0
    for slot in 1..<8 { versions |= UInt64(retired[slot]) << (8 * UInt64(slot)) }
    let grown = UInt64(grown.map { $0 + 1 } ?? 0)
    print.mix(
      versions | (isUnmarked ? 1 : 0) | (hasStalled ? 2 : 0) | (owesErasure ? 4 : 0) | grown << 3)
    let sync = UInt64(unsynced[0]) | UInt64(unsynced[1]) << 8 | UInt64(covered) << 16
    print.mix(
      sync | UInt64(captured[0]) << 24 | UInt64(captured[1]) << 32 | UInt64(older) << 40
        | UInt64(recovered) << 48 | UInt64(newLife) << 56)
  }
}
