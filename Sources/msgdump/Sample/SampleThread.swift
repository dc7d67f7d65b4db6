import MsgStore
import MsgStoreTools

/// The long thread of the sample chat: a book club that never stops talking.
struct SampleThread {
  private static let conversation: ConversationID = "book-club"
  private static let members = ["ann", "bob", "chen", "layla", "masha", "noam", "yuki"]
  /// 2 January 2026.
  private static let begin: Int64 = 1_767_312_000_000_000
  private static let unreadCount = 4

  let messageCount: Int

  func forEachRecord<Failure: Error>(_ body: (JSONRecord) throws(Failure) -> Void) throws(Failure) {
    let messages = messages()
    try body(
      .conversation(
        ExportedConversation(
          sample: Self.conversation, participants: Self.members,
          title: "Book club 📚 読書会", since: Self.begin)))
    let read = messages.dropLast(Self.unreadCount).last
    try body(.receipt(JSONReceipt(Self.conversation, upTo: read, isTold: true)))
    try body(.receipt(receipt(of: "bob", upTo: messages.dropLast(2))))
    try body(.receipt(receipt(of: "yuki", upTo: messages.dropLast(Self.unreadCount))))
    for message in messages { try body(.message(message)) }
  }

  /// Returns the server's receipts of a member, who reads everything two minutes later.
  private func receipt(of member: MemberID, upTo messages: [ExportedMessage].SubSequence)
    -> JSONReceipt
  {
    var receipt = JSONReceipt(Self.conversation, upTo: nil)
    receipt.member = member
    for message in messages.suffix(2).reversed() {
      receipt.read.append(ExportedStep(message.position, message.later(120_000_000)))
    }
    return receipt
  }

  private func messages() -> [ExportedMessage] {
    var random = SampleRandom(seed: 2024)
    var time = Self.begin
    return (1...messageCount).map { number in
      time += pause(&random)
      let sender = sender(of: number, &random)
      return ExportedMessage(
        Message(
          id: id(number), in: Self.conversation, from: sender, text: text(&random),
          serverTimestamp: Timestamp(microseconds: time), sequence: sequence(of: number),
          status: sender == "ann" ? .read : nil,
          replyTo: number > 20 && random.below(8) == 0 ? id(number - 1 - random.below(20)) : nil))
    }
  }

  /// Returns the sequence of a message.
  ///
  /// Two numbers are left out, for messages not fetched yet.
  private func sequence(of number: Int) -> Int64 { Int64(number > 30 ? number + 2 : number) }

  private func id(_ number: Int) -> MessageID {
    let digits = String(number)
    return MessageID("club-\(String(repeating: "0", count: max(0, 6 - digits.count)))\(digits)")
  }

  /// Returns the sender of a message.
  ///
  /// The last messages are from others, so that the local member has something left to read.
  private func sender(of number: Int, _ random: inout SampleRandom) -> MemberID {
    let isUnread = number > messageCount - Self.unreadCount
    let index =
      isUnread ? 1 + random.below(Self.members.count - 1) : random.below(Self.members.count)
    return MemberID(Self.members[index])
  }

  /// Returns the pause before a message, in microseconds.
  ///
  /// People answer within seconds, then not for hours; some messages share their time.
  private func pause(_ random: inout SampleRandom) -> Int64 {
    switch random.below(40) {
    case 0...1: 0
    case 2...3: Int64(3600 + random.below(50_000)) * 1_000_000
    case 4: Int64(random.below(60_000_000))
    default: Int64(1 + random.below(90_000)) * 1000
    }
  }

  private func text(_ random: inout SampleRandom) -> String {
    let opening = SamplePhrases.openings[random.below(SamplePhrases.openings.count)]
    switch random.below(10) {
    case 0: return opening
    case 1: return SamplePhrases.foreign[random.below(SamplePhrases.foreign.count)]
    default:
      let subject = SamplePhrases.subjects[random.below(SamplePhrases.subjects.count)]
      let verdict = SamplePhrases.verdicts[random.below(SamplePhrases.verdicts.count)]
      return "\(opening) \(subject) \(verdict)"
    }
  }
}

extension JSONReceipt {
  /// Creates the local member's receipt up to a message that the server has.
  init(_ conversation: ConversationID, upTo message: ExportedMessage?, isTold: Bool) {
    self.init(conversation, upTo: message.map { JSONMark.place($0.position) })
    if isTold { confirmedRead = message?.position }
  }
}

extension ExportedMessage {
  /// The message's place in the thread, if the server has it.
  var position: MessagePosition {
    MessagePosition(.acknowledged(serverTimestamp?.microseconds ?? 0, sequence: sequence), id)
  }
}

/// The phrases of the long thread.
private enum SamplePhrases {
  static let openings = [
    "Honestly,", "I thought", "Hm.", "Wait,", "Agreed:", "No way,", "You know,", "For me",
    "Page 212:", "Ha!", "Sorry to be late,", "As Yuki said,", "In the end", "Again,", "Oh 😮",
  ]
  static let subjects = [
    "the narrator", "the lighthouse keeper", "chapter nine", "that letter", "the whole middle part",
    "her brother", "the ending", "the translation", "the map on the first page", "the dog 🐕",
    "the scene on the ferry", "the old captain", "every second sentence", "the third dream",
  ]
  static let verdicts = [
    "made me cry.", "is not to be trusted.", "could have been shorter.", "was my favourite.",
    "reminded me of my grandmother.", "kept me awake until three.", "is the heart of it all.",
    "makes no sense to me.", "deserves a book of its own.", "was funny 😂",
    "got lost on the way, but came back in the last chapter with all its luggage, thank goodness.",
    "is why I read.", "again?!", "… I have no words.",
  ]
  static let foreign = [
    "اتفق معك تماما", "لا أظن ذلك 🤔", "בדיוק כך", "ממש לא!", "Совершенно верно.", "Не уверена…",
    "बहुत बढ़िया", "同感です", "えっ、本当に？", "我也这么觉得", "不一定吧", "👍🏽", "❤️‍🔥", "C'est ça !",
    "¡Qué va!", "เห็นด้วย", "Прочла за одну ночь 🌙",
  ]
}

/// A repeatable random generator: SplitMix64.
private struct SampleRandom {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  /// Returns a number from 0 up to, but not including, `limit`.
  mutating func below(_ limit: Int) -> Int {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    mixed ^= mixed >> 31
    return Int(mixed % UInt64(limit))
  }
}
