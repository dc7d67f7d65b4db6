/// A state of the model: the files, one process or none, and what has been promised.
///
/// It is a value without references, so that copying one is all it takes to try a step.
struct State {
  /// The most places for commits and watermarks in a WAL file.
  static let placeCount = 4

  // MARK: The files

  var metas = Row2<Cell<UInt32>>(repeating: Cell())
  /// Whether the directory has the names of the WAL files: 1 or 0.
  var names = Row2<Cell<UInt8>>(repeating: Cell())
  var headers = Row2<Cell<UInt8>>(repeating: Cell())
  /// The places of both files, one after the other.
  var log = Row8<Cell<UInt8>>(repeating: Cell())
  /// Page slots; number 0 means none.
  var slots = Row8<Cell<UInt8>>(repeating: Cell())
  /// How many places each WAL file has.
  var sizes = Row2<Cell<UInt8>>(repeating: Cell())

  // MARK: What commits and lives are, by their numbers

  var commits = Row5<CommitFacts>(repeating: CommitFacts())
  var lives = Row16<Life>(repeating: Life())

  /// What a commit's header says.
  struct CommitFacts {
    var before: Commits = 0
    var durableLSN: UInt8 = 0
    var life: UInt8 = 0
  }

  /// One life of a WAL file, which stands for the random half of a generation.
  struct Life {
    /// The other half; 0 for a life that nothing names any more.
    var counter: UInt8 = 0
    /// The commits before the file's first one.
    var before: Commits = 0
  }

  // MARK: What has been promised, and what may still happen

  /// Every commit that the last opening showed, and those appended since.
  var history: Commits = 0
  /// How many of them have been said to be durable.
  var durableLSN: UInt8 = 0
  var nextCommit: UInt8 = 1
  var turnsLeft: UInt8 = 0
  var crashesLeft: UInt8 = 0
  var closesLeft: UInt8 = 0
  var failedSyncsLeft: UInt8 = 0
  var movesLeft: UInt8 = 0
  var refusalsLeft: UInt8 = 0
  var growthsLeft: UInt8 = 0
  /// How many places a WAL file has when it is made; the same in all of a run.
  var leastPlaceCount: UInt8 = 0

  // MARK: The process; all of this is lost with it

  var phase = Phase.clean
  var process = Process()
  var readers = (Reader.closed, Reader.closed)

  enum Phase: UInt8 {
    /// Opened after a clean close; nothing was written yet.
    case clean
    /// In the middle of an opening, or of the first write after a clean close.
    case opening
    case running
    /// In the checkpoint that marks the store as closed.
    case closing
  }
}

/// What a process knows beside the files.
struct Process {
  /// The next step of an opening, see `OpeningStep`.
  var opening = OpeningStep.syncDirectory
  /// The next step of a checkpoint, see `CheckpointStep`.
  var checkpoint = CheckpointStep.none
  /// The next step of a group sync, see `GroupSyncStep`.
  var groupSync = GroupSyncStep.none

  /// The newest content of the meta slots.
  var meta = Meta.unreadable
  /// What is being published.
  var next = Meta.unreadable
  /// The table that new snapshots read through, and its version.
  var shown = Meta.unreadable
  var version: UInt8 = 1
  /// Slots in use, as bits, and for some of them the last version of the table that used them.
  var used: UInt8 = 0
  var retired = Row8<UInt8>(repeating: 0)
  /// Slots of a publication that was refused half-way: a meta slot may refer to them.
  var orphans: UInt8 = 0

  /// The WAL file that commits go to, and the place of the next one.
  var current: UInt8 = 0
  var place: UInt8 = 0
  /// The history at the turn.
  var ended: Commits = 0
  /// The last commit in each file that no sync has covered.
  var unsynced = Row2<UInt8>(repeating: 0)
  /// What a group sync covers, and what it has found to sync.
  var covered: UInt8 = 0
  var captured = Row2<UInt8>(repeating: 0)
  var older: UInt8 = 0

  /// Whether the growth of a WAL file waits for its sync, in which file.
  var grown: UInt8?
  /// Whether a commit found at opening may have erased something that still lies somewhere.
  var owesErasure = false

  /// What an opening has read from the log, and the life it begins.
  var recovered: Commits = 0
  var newLife: UInt8 = 0
  /// What a second checkpoint has still to publish, under `stalePublication`.
  var stale = Meta.unreadable
  var hasStalled = false
  /// Whether the meta slots do not say yet that the store is in use, under `inUseMarkedAtFirstSync`.
  var isUnmarked = false
}

extension State {
  static func place(_ file: Int, _ index: Int) -> Int { file * placeCount + index }

  func cachedMeta(_ index: Int) -> Meta { Meta(bits: metas[index].cached) }
  var currentLife: UInt8 { headers[Int(process.current)].cached }
  var isWriting: Bool { phase == .running || phase == .closing }

  mutating func syncLog(_ file: Int, withSize: Bool = true) {
    headers[file].sync()
    if withSize { sizes[file].sync() }
    for index in 0..<Self.placeCount { log[Self.place(file, index)].sync() }
  }

  mutating func syncData() {
    for index in 0..<2 { metas[index].sync() }
    for slot in 1..<8 { slots[slot].sync() }
  }

  /// Writes a commit or a watermark; what reaches the medium at the end of a file makes it longer.
  mutating func write(_ entry: Entry, toPlace place: Int, of file: Int) {
    log[Self.place(file, place)].write(entry.bits)
    if !sizes[file].isDirty && sizes[file].isUnsettled {
      sizes[file].write(sizes[file].cached)
    }
  }

  mutating func syncDirectory() {
    for index in 0..<2 { names[index].sync() }
  }

  /// Writes a meta content with the next number.
  mutating func write(_ meta: Meta, toSlot index: Int) {
    var meta = meta
    meta.number = max(cachedMeta(0).number, cachedMeta(1).number) + 1
    metas[index].write(meta.bits)
  }

  /// The slot with the lower number, which is the one that a publication writes.
  var lowerMeta: Int { cachedMeta(0).number <= cachedMeta(1).number ? 0 : 1 }

  /// A life that nothing names, to be begun with a counter and a history.
  mutating func makeLife(counter: UInt8, before: Commits) -> UInt8 {
    for life in 1..<UInt8(15) where lives[Int(life)].counter == 0 {
      lives[Int(life)] = Life(counter: counter, before: before)
      return life
    }
    preconditionFailure("too many lives of WAL files at once")
  }

  /// Whether two lives are the same generation.
  func isSame(_ life: UInt8, _ other: UInt8, _ defect: ProtocolDefect?) -> Bool {
    if defect == .plainCounterGenerations {
      return lives[Int(life)].counter == lives[Int(other)].counter
    }
    return life == other
  }
}
