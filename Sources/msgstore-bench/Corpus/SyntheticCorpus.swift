/// Messages generated from a seed, in the proportions of real chat.
///
/// The proportions are those of a corpus of 439,085 messages of real people, and of exports of chat
/// programs; `docs/benchmark.md` has them in a table, and `SyntheticCorpusTests` counts. All words
/// are made up by rule.
struct SyntheticCorpus: Corpus {
  let conversations: [CorpusConversation]
  let hasLateArrivals = true
  let seed: UInt64
  /// False for messages without mentions, reactions, attachments and edits, which a log of texts
  /// does not have either.
  let hasExtras: Bool
  fileprivate let plan: ConversationPlan
  fileprivate let wide: Vocabulary
  private let plain: Vocabulary
  private let others: [Vocabulary.Script: Vocabulary]
  /// The people of each conversation by number; a room has more of them than it lists.
  fileprivate let people: [String]

  var summary: String { "synthetic" }

  /// Returns the number of conversations over which real people spread this many messages.
  static func conversationCount(for messageCount: Int) -> Int {
    max(20, Int(Double(messageCount) / ConversationPlan.messagesPerConversation))
  }

  init(conversationCount: Int, seed: UInt64, hasExtras: Bool = true) {
    var generator = SeededGenerator(seed: seed)
    self.seed = seed
    self.hasExtras = hasExtras
    wide = .wide(seed: generator.next())
    plain = .plain(seed: generator.next())
    var others: [Vocabulary.Script: Vocabulary] = [:]
    for script in Vocabulary.Script.allCases {
      others[script] = .other(script, seed: generator.next())
    }
    self.others = others
    plan = ConversationPlan(conversationCount: conversationCount, using: &generator)
    // In the corpus 730 people have 23,646 dialogs.
    let peopleCount = max(7, conversationCount * 730 / 23_646)
    let wide = wide
    people = (0..<peopleCount).map { wide.name($0) }
    var conversations: [CorpusConversation] = []
    for (number, kind) in plan.kinds.enumerated() {
      var participants = [localMember]
      while participants.count < (kind.habit.isRoom ? 8 : 2) {
        let person = people[generator.index(below: people.count)]
        if kind.habit.isRoom, participants.contains(person), generator.chance(0.9) { continue }
        participants.append(person == localMember ? "somebody" : person)
      }
      conversations.append(
        CorpusConversation(
          id: PushID.make(milliseconds: 1_700_000_000_000 + Int64(number), using: &generator),
          participants: participants.uniqued,
          title: kind.habit.isRoom ? wide.text(byteCount: 16, using: &generator) : nil))
    }
    self.conversations = conversations
  }

  fileprivate func vocabulary(of conversation: Int) -> Vocabulary {
    let kind = plan.kinds[conversation]
    if let script = kind.script { return others[script] ?? plain }
    return kind.habit.isRoom ? wide : plain
  }

  func makeStream() -> any MessageStream {
    SyntheticStream(corpus: self)
  }
}

extension [String] {
  /// The strings, each once, in their order.
  fileprivate var uniqued: [String] {
    var known: Set<String> = []
    return filter { known.insert($0).inserted }
  }
}

private struct SyntheticStream: MessageStream {
  /// The stream's memory of a conversation.
  private struct Memory {
    var sequence: Int64 = 0
    /// The time of its last message.
    var milliseconds: Int64 = 0
    var lastSender: String?
    /// The last ids, which a reply refers to.
    var ids: [String] = []
    /// The members who write in a room at the moment, and the number of all who ever have.
    var active: [String] = []
    var knownCount = 0
  }

  /// The number of people who write in a room at a time.
  private static let activeCount = 10
  private static let keptIDCount = 1_400

  let corpus: SyntheticCorpus
  private var generator: SeededGenerator
  private var milliseconds: Int64 = 1_700_000_000_000
  private var memories: [Memory]
  private var burstIndex = 0
  private var current = ConversationPlan.Burst(conversation: 0, count: 0)
  private let replies = Quantiles([
    0: 0.6, 0.27: 1.4, 0.5: 3, 0.75: 6, 0.9: 13, 0.95: 21, 0.99: 82, 0.999: 466, 1: 1_348,
  ])

  init(corpus: SyntheticCorpus) {
    self.corpus = corpus
    generator = SeededGenerator(seed: corpus.seed ^ 0x5EED)
    memories = Array(repeating: Memory(), count: corpus.conversations.count)
  }

  mutating func next(in conversation: Int?) -> ChatMessage {
    let conversation = conversation ?? nextConversation()
    let habit = corpus.plan.kinds[conversation].habit
    let time = advance(conversation, habit)
    let id = PushID.make(milliseconds: milliseconds, using: &generator)
    let sender = drawSender(in: conversation, habit)
    var message = ChatMessage(
      conversation: conversation, id: id, sender: sender, text: "", serverTime: time * 1_000,
      sequence: memories[conversation].sequence,
      localTime: sender == localMember ? (time - 300) * 1_000 : nil, status: 2, replyTo: nil)
    if generator.chance(habit.replies) {
      let distance = max(1, replies.draw(using: &generator))
      let ids = memories[conversation].ids
      if distance <= ids.count { message.replyTo = ids[ids.count - distance] }
    }
    let isMention = generator.chance(habit.mentions)
    let mentioned = isMention ? memories[conversation].active.randomElement(using: &generator) : nil
    message.text = makeText(in: conversation, habit, to: mentioned)
    if corpus.hasExtras { addExtras(to: &message, mentioned, time: time * 1_000) }
    remember(message, habit)
    return message
  }

  private mutating func nextConversation() -> Int {
    if current.count == 0 {
      // After the planned messages each conversation comes up as often as it did before.
      let bursts = corpus.plan.bursts
      current =
        burstIndex < bursts.count
        ? bursts[burstIndex] : bursts[generator.index(below: bursts.count)]
      burstIndex += 1
    }
    current.count -= 1
    return current.conversation
  }

  /// Returns the time of the next message of a conversation, in milliseconds.
  private mutating func advance(_ conversation: Int, _ habit: ConversationHabit) -> Int64 {
    memories[conversation].sequence += 1
    let last = memories[conversation].milliseconds
    milliseconds += 1
    if last > 0, generator.chance(habit.equalTime) { return last }
    let step = habit.clockStep
    if habit.isRoom {
      milliseconds = max(
        milliseconds, last + step + Int64(generator.index(below: Int(step) / 2 + 1)))
    } else {
      milliseconds += 2_000 + Int64(generator.index(below: 11_000))
    }
    let time = milliseconds / step * step
    memories[conversation].milliseconds = max(time, last)
    return memories[conversation].milliseconds
  }

  private mutating func drawSender(in conversation: Int, _ habit: ConversationHabit) -> String {
    let participants = corpus.conversations[conversation].participants
    var memory = memories[conversation]
    defer { memories[conversation] = memory }
    let sender: String
    if let last = memory.lastSender, generator.chance(habit.run) {
      sender = last
    } else if habit.isRoom {
      if memory.active.count < Self.activeCount || generator.chance(0.13) {
        // In the channel, every second of those who come has never been there.
        let isNew = memory.knownCount == 0 || generator.chance(habit.mentions > 0.1 ? 0.62 : 0.1)
        let number = isNew ? memory.knownCount : returning(to: memory.knownCount)
        memory.knownCount += isNew ? 1 : 0
        let name = number % 50 == 7 ? localMember : corpus.wide.name(number * 7 + conversation)
        if memory.active.count >= Self.activeCount { memory.active.removeFirst() }
        memory.active.append(name)
        sender = name
      } else {
        sender = memory.active[generator.index(below: memory.active.count)]
      }
    } else {
      sender = participants.first { $0 != memory.lastSender } ?? localMember
    }
    memory.lastSender = sender
    return sender
  }

  /// Returns the number of somebody who has been there before: regulars far more often.
  private mutating func returning(to count: Int) -> Int {
    let fraction = generator.fraction()
    return Int(Double(count) * fraction * fraction * fraction)
  }

  private mutating func makeText(
    in conversation: Int, _ habit: ConversationHabit, to mentioned: String?
  ) -> String {
    let vocabulary = corpus.vocabulary(of: conversation)
    if generator.chance(habit.phrases) {
      // The first phrases are the most frequent ones.
      let choice = generator.fraction()
      let number = Int(Double(habit.phraseCount) * choice * choice)
      var phrase = SeededGenerator(seed: corpus.seed ^ UInt64(habit.phraseCount * 10_000 + number))
      return vocabulary.text(byteCount: habit.lengths.draw(using: &phrase), using: &phrase)
    }
    let byteCount = max(1, habit.lengths.draw(using: &generator))
    if byteCount <= 3, generator.chance(0.35) { return Self.signs[generator.index(below: 5)] }
    var text = ""
    if let mentioned, mentioned.utf8.count + 2 < byteCount { text = "\(mentioned): " }
    let link = generator.chance(habit.links) ? makeLink() : ""
    let rest = byteCount - text.utf8.count - link.utf8.count
    if rest > 0 { text += vocabulary.text(byteCount: rest, using: &generator) }
    if generator.chance(habit.lines) { text = split(text) }
    if !link.isEmpty { text += " " + link }
    if generator.chance(habit.emoji) { text += Self.emoji[generator.index(below: 6)] }
    return text
  }

  private static let signs = [":)", "?", "..", "!?", ":("]
  private static let emoji = ["🙂", "😅", "👍", "👋", "🙏🏽", "🎉"]

  /// Breaks a text into lines at some of its spaces.
  private mutating func split(_ text: String) -> String {
    String(text.map { $0 == " " && generator.chance(0.08) ? "\n" : $0 })
  }

  private mutating func makeLink() -> String {
    let path = PushID.make(milliseconds: Int64(generator.next() >> 16), using: &generator)
    return "https://\(corpus.wide.name(generator.index(below: 300))).org/\(path.prefix(16))"
  }

  private mutating func remember(_ message: ChatMessage, _ habit: ConversationHabit) {
    guard habit.isRoom else { return }
    memories[message.conversation].ids.append(message.id)
    if memories[message.conversation].ids.count > 2 * Self.keptIDCount {
      memories[message.conversation].ids.removeFirst(Self.keptIDCount)
    }
  }

  // MARK: What few messages have

  /// Adds the mention, and reactions, files, and an edit in the proportions of an export.
  private mutating func addExtras(
    to message: inout ChatMessage, _ mentioned: String?, time: Int64
  ) {
    let participants = corpus.conversations[message.conversation].participants
    let reactions = generator.chance(0.019) ? makeReactions(participants, after: time) : []
    let files = generator.chance(0.058) ? [makeFile(at: time)] : []
    if generator.chance(0.019) { message.editedAt = time + 60_000_000 }
    let mentions = mentioned.map { [$0] } ?? []
    if mentions.isEmpty, reactions.isEmpty, files.isEmpty { return }
    message.extras = MessageExtras(mentions: mentions, reactions: reactions, attachments: files)
  }

  private mutating func makeReactions(
    _ participants: [String], after time: Int64
  ) -> [ChatReaction] {
    let count = min(participants.count, 1 + generator.index(below: 3))
    return participants.prefix(count).map { member in
      ChatReaction(
        member: member, emoji: Self.emoji[generator.index(below: 6)],
        time: time + 1_000_000 * Int64(1 + generator.index(below: 3_600)))
    }.sorted()
  }

  private mutating func makeFile(at time: Int64) -> ChatAttachment {
    let name = PushID.make(milliseconds: time / 1_000, using: &generator)
    let isPicture = generator.chance(0.7)
    return ChatAttachment(
      id: name, kind: isPicture ? 1 : 4, url: "https://files.example.org/v1/\(name)",
      fileName: isPicture ? nil : "\(corpus.wide.name(generator.index(below: 5_000))).pdf",
      mimeType: isPicture ? "image/jpeg" : "application/pdf",
      byteCount: Int64(20_000 + generator.index(below: 4_000_000)),
      width: isPicture ? 1_080 : nil, height: isPicture ? 1_440 : nil,
      preview: isPicture ? (0..<24).map { _ in UInt8(generator.index(below: 256)) } : [])
  }
}
