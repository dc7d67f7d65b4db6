import MsgStore
import MsgStoreTools
import PageFile
import RandomChat
import Simulation

/// The random acts of a seed, and all that a store answers to them.
struct Transcript {
  let seed: UInt64
  /// The numbers of the acts that are done; nil: all of them.
  let kept: Set<Int>?
  /// A line for each act with its outcome, and for each part of a picture.
  private(set) var lines: [String] = []
  /// The export at the end, as it is.
  private(set) var export: [UInt8] = []
  private var tokens: [String: Int] = [:]

  /// The number of transactions; a picture is taken after every 40th.
  private static let transactionCount = 200
  private static let tokenDigitCount = 32

  init(seed: UInt64, kept: Set<Int>? = nil) {
    self.seed = seed
    self.kept = kept
  }

  /// Plays the acts on a new store in memory.
  mutating func play() throws {
    var random = SeededRandom(seed: seed ^ 0x0AC1E)
    let idCount = [8, 30, 60][random.below(3)]
    let (isNarrow, packs) = (random.once(in: 2), !random.once(in: 5))
    var packing = PackingSizes()
    if !random.once(in: 3) {
      packing = PackingSizes(
        looseCount: [0, 1, 2, 5, 9][random.below(5)],
        maximumSegmentByteCount: [90, 150, 300, 1000, .max][random.below(5)])
    }
    let clock = TickingClock(1_005_000)
    var options = StoreOptions(localMember: "me", clock: { clock.now })
    options.createsConversationsOnSend = true
    options.outbox.chance = { 0.5 }
    options.packs = packs
    options.packing = packing
    options.worksInBackground = false
    if isNarrow {
      options.maximumWaitingCount = 2 + random.below(8)
      options.maximumInlineMemberCount = random.below(5)
      options.steps = StepSizes(
        maximumSweepCount: 2 + random.below(19), maximumMergeCount: 1 + random.below(9),
        maximumEntryCount: 1 + random.below(9))
    }
    let directory = MemoryDirectory()
    var store = try MessageStore(in: directory, name: "store", options: options)
    var acts = RandomActs(seed: seed, idCount: idCount)
    var dictionaryNumber: UInt32 = 0
    var next = 0
    for number in 0..<Self.transactionCount {
      var transaction = acts.transaction()
      let first = next
      next += 1 + transaction.acts.count
      if let kept {
        transaction = Self.part(of: transaction, numberedFrom: first, kept)
      }
      if transaction.compacts {
        dictionaryNumber += 1
        add("pack with dictionary \(dictionaryNumber)")
        try store.packAnew(with: dictionaryNumber)
      }
      if transaction.reopens {
        add("reopen")
        try store.close()
        store = try MessageStore(in: directory, name: "store", options: options)
      }
      clock.advance()
      if transaction.setsClockBack { clock.setBack() }
      let outcomes = try transaction.run(on: store)
      for (act, outcome) in zip(transaction.acts, outcomes) {
        add("\(number): \(act.name): \(describe(outcome))")
      }
      if transaction.finishesWork { add("finish work") }
      if number % 40 == 39 { try addPicture(of: store) }
    }
    try addPicture(of: store)
    try store.close()
    add("reopen and compact")
    store = try MessageStore(in: directory, name: "store", options: options)
    try store.compact()
    try addPicture(of: store)
    try store.close()
  }

  /// What is left of a transaction: the first number stands for what happens around its acts.
  private static func part(
    of whole: RandomTransaction, numberedFrom first: Int, _ kept: Set<Int>
  ) -> RandomTransaction {
    var part = whole
    part.acts = whole.acts.indices.filter { kept.contains(first + 1 + $0) }.map { whole.acts[$0] }
    if !kept.contains(first) {
      part.finishesWork = false
      part.compacts = false
      part.reopens = false
      part.setsClockBack = false
    }
    return part
  }

  private func describe(_ outcome: RandomAct.Outcome) -> String {
    switch outcome {
    case .done(let answer): "\(answer)"
    case .refused(let error): "refused: \(error)"
    }
  }

  /// All that can be read, and the export, once no step is left.
  private mutating func addPicture(of store: MessageStore) throws {
    try store.finishWork()
    let picture = try store.read { try WholePicture($0) }
    for part in Mirror(reflecting: picture).children {
      let name = part.label ?? ""
      if let list = part.value as? [Any] {
        for (index, element) in list.enumerated() { add("\(name) \(index)", element) }
      } else {
        add(name, part.value)
      }
    }
    export.removeAll()
    try store.exportLines { export += $0 }
    let lines = export.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
    func isFile(_ line: String) -> Bool { line.contains("\"unneeded_file\"") }
    // The order of unneeded files follows from digests of the paths.
    for line in lines.filter({ !isFile($0) }) + lines.filter(isFile).sorted() {
      add("export " + line)
    }
    for finding in try store.check() { add("check: \(finding)") }
  }

  /// A line for each part of a structure, so that a difference is seen at once.
  private mutating func add(_ name: String, _ value: Any) {
    if let room = value as? RoomPicture {
      for part in Mirror(reflecting: room).children {
        let name = "\(name) \(part.label ?? "")"
        if let list = part.value as? [Any] {
          for (index, element) in list.enumerated() { add("\(name) \(index): \(element)") }
        } else {
          add("\(name): \(part.value)")
        }
      }
    } else {
      add("\(name): \(value)")
    }
  }

  /// Enters a line with a number in place of each random token, in the order of appearance.
  private mutating func add(_ line: String) {
    var result: [UInt8] = []
    var run: [UInt8] = []
    for byte in Array(line.utf8) + [0x0A] {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"):
        run.append(byte)
      default:
        if run.count == Self.tokenDigitCount {
          let token = String(decoding: run, as: UTF8.self)
          let number = tokens[token] ?? tokens.count
          tokens[token] = number
          run = Array("token \(number)".utf8)
        }
        result += run
        result.append(byte)
        run.removeAll(keepingCapacity: true)
      }
    }
    lines.append(String(decoding: result.dropLast(), as: UTF8.self))
  }
}
