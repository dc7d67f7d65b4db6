/// The sizes of the made-up conversations, and the order in which their messages come.
///
/// A conversation comes up in bursts, as people write: a small one in a single burst, a room again
/// and again between the others.
struct ConversationPlan {
  struct Burst {
    var conversation: Int
    var count: Int
  }

  /// The habit and script of each conversation; nil stands for Latin script.
  private(set) var kinds: [(habit: ConversationHabit, script: Vocabulary.Script?)] = []
  private(set) var bursts: [Burst] = []

  /// The messages of the real corpus for each of its conversations.
  static let messagesPerConversation = 439_085.0 / 23_683

  /// The share of all messages in each room of the real corpus, the largest first.
  private static let roomShares = [
    0.4561, 0.02323, 0.01139, 0.00358, 0.00243, 0.00175, 0.00169, 0.00157, 0.0015, 0.00088,
    0.00072, 0.00067, 0.00058, 0.0005, 0.00043, 0.00043, 0.00038, 0.00038, 0.00038, 0.00036,
    0.00035, 0.00026, 0.00019, 0.00013,
  ]
  private static let smallestRoom = 48

  /// Dialogs by their share of all conversations, with their sizes.
  private static let dialogs: [(share: Double, habit: ConversationHabit, sizes: Quantiles)] = [
    (0.4993, .question, Quantiles([0: 2, 1: 2])),
    (0.1689, .booking, Quantiles([0: 5.5, 0.1: 10, 0.5: 16, 0.8: 18.5, 0.95: 23, 1: 28])),
    (0.091, .talk, Quantiles([0: 20.5, 0.55: 21.5, 0.9: 23, 1: 27])),
    (0.1127, .chat, Quantiles([0: 12.6, 0.3: 14, 0.7: 16, 1: 18])),
    (0.0422, .guide, Quantiles([0: 8, 0.3: 12, 0.7: 20, 0.95: 29, 1: 32])),
    (0.0844, .service, Quantiles([0: 3.5, 0.2: 8, 0.5: 12, 0.8: 16.5, 1: 25])),
  ]

  init(conversationCount: Int, using generator: inout SeededGenerator) {
    let total = Double(conversationCount) * Self.messagesPerConversation
    var planned: [(ConversationHabit, Vocabulary.Script?, [Burst])] = []
    for (rank, share) in Self.roomShares.enumerated() where planned.count < conversationCount {
      let size = Int(share * total)
      guard rank == 0 || size >= Self.smallestRoom else { continue }
      planned.append((rank == 0 ? .channel : .team, nil, Self.split(size, using: &generator)))
    }
    while planned.count < conversationCount {
      let (habit, script, size) = Self.drawDialog(using: &generator)
      planned.append((habit, script, [Burst(conversation: planned.count, count: size)]))
    }
    var order = planned.enumerated().flatMap { number, plan in
      plan.2.map { Burst(conversation: number, count: $0.count) }
    }
    order[1...].shuffle(using: &generator)
    // Numbers in the order in which conversations come up, as an application would give them; the
    // huge room has the first.
    var numbers: [Int: Int] = [:]
    for burst in order where numbers[burst.conversation] == nil {
      numbers[burst.conversation] = numbers.count
      kinds.append((planned[burst.conversation].0, planned[burst.conversation].1))
    }
    bursts = order.map {
      Burst(conversation: numbers[$0.conversation] ?? 0, count: $0.count)
    }
  }

  /// Splits a room's messages into bursts of 20 on average.
  private static func split(_ size: Int, using generator: inout SeededGenerator) -> [Burst] {
    var bursts: [Burst] = []
    var rest = max(1, size)
    while rest > 0 {
      let count = min(rest, 1 + generator.index(below: 39))
      bursts.append(Burst(conversation: 0, count: count))
      rest -= count
    }
    return bursts
  }

  private static func drawDialog(
    using generator: inout SeededGenerator
  ) -> (ConversationHabit, Vocabulary.Script?, Int) {
    var rest = generator.fraction() * dialogs.reduce(0) { $0 + $1.share }
    let kind = dialogs.first { kind in
      rest -= kind.share
      return rest < 0
    }
    let (habit, sizes) = (kind?.habit ?? .chat, kind?.sizes ?? dialogs[0].sizes)
    return (habit, script(of: habit, using: &generator), sizes.draw(using: &generator))
  }

  private static func script(
    of habit: ConversationHabit, using generator: inout SeededGenerator
  ) -> Vocabulary.Script? {
    switch habit.phraseCount {
    case ConversationHabit.question.phraseCount: return .hangul
    case ConversationHabit.guide.phraseCount: return .han
    case ConversationHabit.chat.phraseCount:
      // The sources hold next to nothing of the last six, so their share is chosen.
      let choice = generator.fraction()
      let shares: [(Vocabulary.Script, Double)] = [
        (.japanese, 0.105), (.hangul, 0.115), (.han, 0.085), (.cyrillic, 0.05), (.arabic, 0.03),
        (.hebrew, 0.02), (.greek, 0.01), (.devanagari, 0.01), (.thai, 0.01),
      ]
      var rest = choice
      return shares.first { share in
        rest -= share.1
        return rest < 0
      }?.0
    default: return nil
    }
  }
}
