import BlockTrials
import MsgStore
import PageFile
import Simulation

/// An attack on an encrypted store by the sizes that compression leaves.
///
/// The attacker can send messages of his choice into the store, and has a copy of its files after
/// each commit. He tries to tell the right one of ten guesses from the others, and takes the one
/// for which the files show the fewest bytes. Each guess is tried on the same state of the store.
/// That is more than an attacker has in life, who goes on with the state that his guesses have
/// left.
struct GuessTrial {
  /// The place of the guess with regard to the secret, which a message of somebody else has.
  enum Setting: String, CaseIterable {
    /// Neither is packed yet: each is a cell of its own.
    case single
    /// Both are in one text of some 600 bytes, as in a quotation.
    case oneText = "one text"
    /// The guess is the next message, and both are packed in the normal course.
    case next = "next message"
    /// The guess is in another conversation.
    case elsewhere
    /// The attacker has half the messages around the secret, and edits one to the guess and others
    /// to noise, over and over: each round packs the segment anew.
    case edits
    /// Seven messages of two senders have each guess, so that the secret's is the eighth and third,
    /// when a dictionary is made. Then the attacker has messages with the guess packed.
    case dictionary
  }

  /// The kinds of secrets, each with a known beginning.
  enum Secret: String, CaseIterable {
    /// Six digits.
    case code
    /// One digit behind five known ones.
    case digit
    /// Forty letters.
    case phrase
  }

  /// The sizes that the files show of one guess.
  struct Shown {
    /// The bytes of the log's sectors that were written up to the end of each round.
    var loggedByteCounts: [UInt64] = []
    /// The slots of the data file that have changed, and those that it has grown by.
    var slotCount = 0
  }

  static let guessCount = 10
  /// The number of rounds in the settings that allow more than one.
  static let roundCount = 256

  let setting: Setting
  let guesses: [String]
  private let beginning: String
  private let ended = "Do not tell it to anybody."
  private let seals: SealSource
  private let noise: UInt64

  /// The first guess is right.
  init(_ setting: Setting, _ secret: Secret, seed: UInt64) {
    self.setting = setting
    var random = SeededRandom(seed: seed)
    switch secret {
    case .code:
      beginning = "Your code is "
      guesses = Self.distinct { Self.word(&random, of: 6, "0123456789") }
    case .digit:
      beginning = "Your code is \(Self.word(&random, of: 5, "0123456789"))"
      let right = random.below(10)
      guesses = (0..<10).map { String((right + $0) % 10) }
    case .phrase:
      beginning = "They say that "
      guesses = Self.distinct { Self.word(&random, of: 40, "abcdefghijklmnopqrstuvwxyz ") }
    }
    seals = SealSource(seed: seed)
    noise = random.next()
  }

  private static func distinct(_ make: () -> String) -> [String] {
    var made: Set<String> = []
    while made.count < guessCount { made.insert(make()) }
    return made.sorted()
  }

  private static func word(
    _ random: inout SeededRandom, of count: Int, _ letters: String
  ) -> String {
    let letters = Array(letters)
    return String((0..<count).map { _ in letters[random.below(letters.count)] })
  }

  /// Returns the sizes that the files show of each guess.
  func run() throws -> [Shown] {
    let base = MemoryDirectory()
    let store = try open(base)
    try prepare(store)
    try store.close()
    return try guesses.map { guess in
      let files = base.copy()
      let store = try open(files)
      var random = SeededRandom(seed: noise)
      // The first commit of an opening writes more than others.
      try add(0, Self.sentence(&random), to: store, in: "first")
      try store.checkpoint()
      let before = files.copy()
      var shown = Shown()
      let loggedByteCount = store.statistics.walByteCount
      try send(guess, to: store, &random) {
        shown.loggedByteCounts.append(store.statistics.walByteCount - loggedByteCount)
      }
      try store.checkpoint()
      shown.slotCount = Self.changedSlotCount(before["store"] ?? [], files["store"] ?? [])
      try store.close()
      return shown
    }
  }

  private static func changedSlotCount(_ old: [UInt8], _ new: [UInt8]) -> Int {
    stride(from: 32768, to: new.count, by: 4096).count { start in
      let end = min(start + 4096, new.count)
      return end > old.count || old[start..<end] != new[start..<end]
    }
  }

  // MARK: The store

  private static let room: ConversationID = "room"

  private func open(_ files: MemoryDirectory) throws -> MessageStore {
    var options = StoreOptions(
      localMember: "me", clock: { Timestamp(milliseconds: 1_700_000_000_000) })
    options.encryption = seals.encryption
    options.worksInBackground = false
    return try MessageStore(in: files, name: "store", options: options)
  }

  private static func sentence(_ random: inout SeededRandom) -> String {
    String(
      decoding: SampleTexts.words(&random, byteCount: 10 + random.below(90)), as: UTF8.self)
  }

  private static func noise(_ random: inout SeededRandom, byteCount: Int) -> String {
    word(
      &random, of: byteCount,
      "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
  }

  private func message(
    _ index: Int, _ text: String, in room: ConversationID, from sender: MemberID? = nil
  ) -> Message {
    Message(
      id: MessageID("message \(10_000 + index)"), in: room,
      from: sender ?? (index % 2 == 0 ? "attacker" : MemberID("friend \(index % 7)")), text: text,
      serverTimestamp: Timestamp(milliseconds: 1_600_000_000_000 + 60_000 * Int64(index)),
      sequence: Int64(index + 1))
  }

  private func add(
    _ index: Int, _ text: String, to store: MessageStore, in room: ConversationID = Self.room,
    from sender: MemberID? = nil
  ) throws {
    try store.write(.relaxed) {
      _ = try $0.insert(message(index, text, in: room, from: sender))
    }
  }

  private var secretText: String { "\(beginning)\(guesses[0]). \(ended)" }

  private static let secretIndex = 31

  /// Stores the messages up to the first that depends on the guess.
  private func prepare(_ store: MessageStore) throws {
    var random = SeededRandom(seed: noise &+ 1)
    if setting == .dictionary { return try prepareDictionary(store, &random) }
    // Of a conversation with 128 messages the older 64 are packed, and with the secret in the last
    // 64 none is.
    let count = setting == .single || setting == .oneText ? 10 : Self.secretIndex
    for index in 0..<count { try add(index, Self.sentence(&random), to: store) }
    if setting == .oneText { return }
    try add(count, secretText, to: store, from: "bank")
    if setting == .elsewhere {
      for index in 0..<count { try add(index, Self.sentence(&random), to: store, in: "other") }
    }
    if setting == .edits {
      for index in count + 1..<128 { try add(index, Self.sentence(&random), to: store) }
    }
  }

  private func prepareDictionary(_ store: MessageStore, _ random: inout SeededRandom) throws {
    try store.write(.relaxed) { chat in
      // At the beginning, as of eight runs of 64 messages the last only measures a dictionary.
      _ = try chat.insert(message(5, secretText, in: "room -1", from: "bank"))
      for (number, guess) in guesses.enumerated() {
        for copy in 0..<7 {
          let room = ConversationID("room -\(2 + copy)")
          let text = "\(Self.sentence(&random)) \(beginning)\(guess)"
          _ = try chat.insert(
            message(10 * copy + number, text, in: room, from: MemberID("account \(copy % 2)")))
        }
      }
      for index in 0..<4000 {
        let room = ConversationID("room \(index / 100)")
        _ = try chat.insert(message(index, Self.sentence(&random), in: room))
      }
    }
    try store.compact()
  }

  /// Sends one guess, and calls `look` after each round.
  private func send(
    _ guess: String, to store: MessageStore, _ random: inout SeededRandom, look: () throws -> Void
  ) throws {
    let text = "\(beginning)\(guess)"
    let next = Self.secretIndex + 1
    switch setting {
    case .single:
      try add(11, text, to: store)
      try look()
    case .oneText:
      for round in 0..<Self.roundCount {
        // Words, as a text is compressed only if that saves an eighth of it.
        let words = SampleTexts.words(&random, byteCount: 600 + random.below(400))
        let filler = String(decoding: words, as: UTF8.self)
        try add(11 + round, "\(secretText) \(filler) \(text)", to: store)
        try look()
      }
    case .next, .elsewhere:
      let room: ConversationID = setting == .next ? Self.room : "other"
      try add(next, text, to: store, in: room)
      for index in next + 1..<129 { try add(index, Self.sentence(&random), to: store, in: room) }
      try look()
    case .edits:
      for round in 0..<Self.roundCount {
        for (number, index) in stride(from: next, to: next + 20, by: 2).enumerated() {
          let filler = Self.noise(&random, byteCount: 20 + random.below(40))
          try store.write(.relaxed) {
            _ = try $0.receiveEdit(
              of: message(index, "", in: Self.room).id, in: Self.room,
              text: number == 0 ? "\(text) \(filler)" : filler,
              at: Timestamp(milliseconds: 1_650_000_000_000 + Int64(20 * round + number)))
          }
        }
        try look()
      }
    case .dictionary:
      for round in 0..<Self.roundCount {
        try store.write(.relaxed) { chat in
          for index in 0..<16 {
            let filler = Self.noise(&random, byteCount: 150 + random.below(50))
            let probe = message(index, "\(filler)\(text)", in: ConversationID("probe \(round)"))
            _ = try chat.insert(probe)
          }
        }
        try look()
      }
    }
  }
}
