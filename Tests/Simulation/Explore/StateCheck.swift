import PageFile

/// Everything that is asked of one crash state.
///
///  1. It opens and shows the contents after a commit that it may show.
///  2. Every page is where it belongs.
///  3. Recovered and lost again, it shows the same.
///  4. It can be written.
///  5. What is done with it afterwards gives right answers.
///  6. Whoever only reads it sees the same as its owner, and changes nothing.
struct StateCheck {
  let setting: StoreSetting

  init(_ setting: StoreSetting) { self.setting = setting }

  /// What a state was recovered to, and moments of the process that did it.
  struct Outcome {
    let digest: UInt64
    let captures: [Capture]
    let counts: PlayCounts
  }

  /// - Parameters:
  ///   - operations: What the process does with the store.
  ///   - trouble: What is wrong with the disk meanwhile.
  func run(
    _ disk: SimulatedDisk, _ history: History, then operations: [Operation] = [],
    _ trouble: Trouble? = nil, capturing isWanted: @escaping (CrashPoint) -> Bool = { _ in false }
  ) throws(Violation) -> Outcome {
    if setting.profile.isLiar { return try askLiar(disk, history) }
    let player = Player(disk, history, setting, trouble)
    let run = LifeRun(player, capturing: isWanted)
    try run.open()
    try player.compare()
    let digest = player.history.newest.digest
    if trouble == nil { try read(disk, expecting: digest) }
    // The log is moved before the next crash, or the crash comes before anything was written.
    if digest / 2 % 2 == 0 { try player.perform(.checkpoint) }
    if player.isOpen { try recoverAgain(player.directory.disk, player.history) }
    if !operations.isEmpty {
      try run.play(operations, comparing: trouble != nil)
      try player.compare()
    }
    run.end()
    player.die()
    return Outcome(digest: digest, captures: run.captures, counts: player.counts)
  }

  /// Reads the state as somebody does who may not write.
  private func read(
    _ disk: SimulatedDisk, expecting digest: UInt64
  ) throws(Violation) {
    let directory = SimulatedDirectory(disk, setting.profile)
    var options = DatabaseOptions()
    options.access = .readOnly
    options.cacheByteCount = setting.cacheByteCount
    options.backgroundWork = .caller
    options.encryption = setting.seals?.encryption
    let seen: UInt64
    do throws(PageFileError) {
      guard try directory.exists("s") else { return }
      let database = try Database(in: directory, name: "s", options: options)
      seen = try Contents.digest(of: database)
    } catch {
      throw Violation(.notReadable, "reading only threw \(error)")
    }
    if seen != digest { throw Violation(.wrongAnswer, "a reader sees what its owner does not") }
    if directory.disk.contentHash != disk.contentHash {
      throw Violation(.misuse, "reading only has changed the disk")
    }
  }

  /// The recovered store is killed, or loses its power, at once; then it is written.
  private func recoverAgain(_ disk: SimulatedDisk, _ history: History) throws(Violation) {
    let isKill = history.newest.digest % 2 == 0
    let player =
      isKill
      ? Player(disk, history, setting)
      : Player(disk.afterPowerCut(PowerCut(), setting.profile), history.afterPowerCut, setting)
    try player.open()
    // A loss that nobody was told of may come to light first, once for each file.
    for _ in 0...3 where player.counts.commitCount == 0 {
      try player.perform(.put(1, byteCount: 30))
      try player.perform(.commit(.full))
    }
    if player.counts.commitCount == 0 { throw Violation(.notWritable, "a recovered store") }
    try player.compare(checkingPages: false)
  }

  /// A device that has lied about syncs may have lost anything, and nothing that it shows may be
  /// believed but what proves itself: the contents after some commit, or an error.
  private func askLiar(
    _ disk: SimulatedDisk, _ history: History
  ) throws(Violation) -> Outcome {
    let player = Player(disk, history.afterLies, setting)
    do throws(Violation) {
      try player.open()
    } catch {
      if error.kind != .notReadable { throw error }
    }
    return Outcome(digest: player.history.newest.digest, captures: [], counts: player.counts)
  }
}
