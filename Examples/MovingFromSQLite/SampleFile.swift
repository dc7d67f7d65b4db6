public import MsgStore

/// An old file with made-up messages, to measure a move with.
public enum SampleFile {
  /// The local member of the file.
  public static let member: MemberID = "ann"

  /// Makes a file.
  ///
  /// Messages come as they do in an app: one every few seconds, in one of the conversations, of
  /// which few have most. So a thread is scattered over the whole file. The same counts make the
  /// same file.
  ///
  /// - Parameters:
  ///   - path: The file, which must not exist.
  ///   - messageCount: The number of messages.
  ///   - conversationCount: The number of conversations; one for 5,000 messages by default.
  /// - Throws: `MoveError.sqlite`.
  public static func make(
    at path: String, messageCount: Int, conversationCount: Int? = nil
  ) throws {
    let file = try SQLiteFile(path: path, isReadOnly: false)
    try file.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; BEGIN")
    try file.execute(OldDatabase.schema)
    var maker = try SampleMaker(
      file, conversationCount: conversationCount ?? max(3, messageCount / 5000))
    try maker.makeConversations()
    for number in 0..<messageCount { try maker.makeMessage(number) }
    try maker.makeMarks()
    try file.execute("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)")
  }
}

/// Makes the rows of a sample.
private struct SampleMaker {
  private let file: SQLiteFile
  private let conversationCount: Int
  private let message: SQLiteStatement
  private let reaction: SQLiteStatement
  private let attachment: SQLiteStatement
  private var random = SampleRandom()
  private var time: Int64 = 1_500_000_000_000
  private var lastNames: [String]
  private var lastTimes: [Int64]

  init(_ file: SQLiteFile, conversationCount: Int) throws {
    self.file = file
    self.conversationCount = conversationCount
    lastNames = Array(repeating: "", count: conversationCount)
    lastTimes = Array(repeating: 0, count: conversationCount)
    message = try file.prepare(
      """
      INSERT INTO message (name, conversation, sender, text, time, state, replyTo)
      VALUES (?, ?, ?, ?, ?, ?, NULLIF(?, ''))
      """)
    reaction = try file.prepare(
      "INSERT INTO reaction (message, member, emoji, time) VALUES (?, ?, ?, ?)")
    attachment = try file.prepare(
      """
      INSERT INTO attachment (message, name, type, url, byteCount)
      VALUES (?, ?, 'image/jpeg', ?, ?)
      """)
  }

  /// Returns the members of a conversation; every third one is a group of eight.
  private func members(_ conversation: Int) -> [String] {
    let others = conversation % 3 == 0 ? 7 : 1
    return [SampleFile.member.string]
      + (0..<others).map { "member-\((conversation + $0 * 7) % 500)" }
  }

  func makeConversations() throws {
    let room = try file.prepare(
      """
      INSERT INTO conversation (name, isGroup, title, isMuted, draft, changed)
      VALUES (?, ?, ?, ?, NULLIF(?, ''), ?)
      """)
    let participant = try file.prepare(
      "INSERT INTO participant (conversation, member) VALUES (?, ?)")
    for number in 0..<conversationCount {
      let isGroup = number % 3 == 0
      try room.forEach([
        .text("room-\(number)"), .integer(isGroup ? 1 : 0), .text("Room \(number)"),
        .integer(number % 10 == 9 ? 1 : 0), .text(number % 25 == 1 ? "see you at" : ""),
        .integer(time),
      ]) {}
      for member in members(number) {
        try participant.forEach([.integer(Int64(number + 1)), .text(member)]) {}
      }
    }
  }

  mutating func makeMessage(_ number: Int) throws {
    let share = random.unit()
    let index = min(Int(share * share * share * Double(conversationCount)), conversationCount - 1)
    let members = members(index)
    time += Int64(random.below(20_000)) + 1
    // Two thirds as long as a line, and some several times that.
    let wordCount = 1 + Int(random.unit() * random.unit() * 30)
    let text = (0..<wordCount).map { _ in random.word() }.joined(separator: " ")
    let name = "\(String(time, radix: 36))-\(String(random.next() & 0xFF_FFFF_FFFF, radix: 36))"
    let sender = members[random.below(members.count)]
    let isReply = random.below(20) == 0
    try message.forEach([
      .text(name), .integer(Int64(index + 1)), .text(sender), .text(text), .integer(time),
      .integer(0), .text(isReply ? lastNames[index] : ""),
    ]) {}
    let row = Int64(number + 1)
    if random.below(20) == 0 {
      try reaction.forEach([
        .integer(row), .text(members[random.below(members.count)]), .text("👍"),
        .integer(time + 5000),
      ]) {}
    }
    if random.below(50) == 0 {
      try attachment.forEach([
        .integer(row), .text("file-\(number)"), .text("https://files.example/\(name)"),
        .integer(Int64(random.below(2_000_000))),
      ]) {}
    }
    (lastNames[index], lastTimes[index]) = (name, time)
  }

  /// Marks most conversations as read to their end; of every fourth the last hour is unread.
  func makeMarks() throws {
    let mark = try file.prepare(
      "INSERT INTO read_mark (conversation, member, time) VALUES (?, ?, ?)")
    for number in 0..<conversationCount {
      for (index, member) in members(number).enumerated() {
        let isBehind = (number + index) % 4 == 3
        try mark.forEach([
          .integer(Int64(number + 1)), .text(member),
          .integer(lastTimes[number] - (isBehind ? 3_600_000 : 0)),
        ]) {}
      }
    }
  }
}

/// Random numbers that are the same in every run (SplitMix64, Vigna 2015).
private struct SampleRandom {
  private var state: UInt64 = 17

  private static let words = """
    the to I you a it and is that in of me for we on was so be have this but not just at my with \
    do can what are if will up ok all no when out there like get know good one about they see go \
    now time how from then some would think back had home time come really right tomorrow here \
    today want need sure maybe where later over more work still after before meet call send photo \
    train late thanks great sorry yes never dinner lunch morning evening weekend minutes street \
    kitchen window tickets station market birthday garden message answer question friend sister \
    brother mother father school office project meeting number letter picture music concert
    """.split(separator: " ").map(String.init)

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  mutating func below(_ count: Int) -> Int { Int(next() % UInt64(count)) }

  mutating func unit() -> Double { Double(next() >> 11) / Double(1 << 53) }

  /// Returns a word; a few of them come much more often than the others.
  mutating func word() -> String {
    if below(25) == 0 { return "\(below(1000))" }
    let share = unit()
    return Self.words[Int(share * share * Double(Self.words.count))]
  }
}
