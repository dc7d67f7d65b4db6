/// One thing that happens on a user's day.
enum DayStep {
  /// Messages of others arrive, in one commit: a push alone, or a batch after the app was started.
  case receive([ChatMessage])
  /// A message of the user is stored, and the server's answer in another commit.
  case send(ChatMessage)
  /// The user opens a thread, which shows the newest messages, and scrolls back; what is unread is
  /// marked as read.
  case open(Int, pages: [Digest], last: ChatMessage?, time: Int64)
  case edit(ChatMessage, time: Int64)
  case react(ChatReaction, ChatMessage)
  /// Another member has read a conversation.
  case mark(member: String, upTo: ChatMessage, time: Int64)
  /// The app is ended and started again, and shows the list.
  case restart(list: Digest)
}

/// A busy user's day, made from a seed: what happens in it is the same for all engines.
///
/// The day has 50 parts, each begun by a start of the app and a batch of what has come in between.
struct DayScript {
  static let partCount = 50
  static let conversationCount = 300
  /// The messages of a part's batch; as many come one by one.
  static let batchCount = 100
  static let sendCount = 6
  static let openCount = 40
  static let editCount = 4
  static let reactionCount = 6
  static let markCount = 100
  static let listCount = 20

  private(set) var steps: [DayStep] = []
  /// The receipts, of which engines must know the last one of each member.
  private(set) var marks: [Mark: (message: ChatMessage, time: Int64)] = [:]

  struct Mark: Hashable {
    var conversation: Int
    var member: String
  }

  private enum Kind { case push, send, open, edit, react, mark }

  private let stores: Stores
  private var generator: SeededGenerator
  /// The conversations in use, the liveliest first.
  private let conversations: [Int]
  /// The messages of the day, as they are after edits and reactions.
  private var today: [Int: [ChatMessage]] = [:]
  /// The newest message of each conversation.
  private var newest: [Int: ChatMessage] = [:]
  private var time: Int64

  /// Makes the script for stores that hold the corpus, and records in their reference what the day
  /// leaves behind.
  init(on stores: Stores, seed: UInt64) {
    self.stores = stores
    generator = SeededGenerator(seed: seed ^ 0xDA1)
    let threads = stores.reference.threads
    conversations = Array(
      threads.indices.sorted { (threads[$0].entries.count, $1) > (threads[$1].entries.count, $0) }
        .prefix(Self.conversationCount))
    time = threads.compactMap(\.summary.lastActivity).max() ?? 0
    for _ in 0..<Self.partCount { addPart() }
  }

  private mutating func addPart() {
    steps.append(.restart(list: stores.reference.list(count: Self.listCount)))
    steps.append(.receive((0..<Self.batchCount).map { _ in nextReceived() }))
    var kinds =
      Array(repeating: Kind.push, count: Self.batchCount)
      + Array(repeating: .send, count: Self.sendCount)
      + Array(repeating: .open, count: Self.openCount)
      + Array(repeating: .edit, count: Self.editCount)
      + Array(repeating: .react, count: Self.reactionCount)
      + Array(repeating: .mark, count: Self.markCount)
    kinds.shuffle(using: &generator)
    for kind in kinds {
      time += 1_000_000
      switch kind {
      case .push: steps.append(.receive([nextReceived()]))
      case .send: steps.append(.send(nextMessage(from: localMember)))
      case .open: steps.append(nextOpening())
      case .edit: if let step = nextEdit() { steps.append(step) }
      case .react: if let step = nextReaction() { steps.append(step) }
      case .mark: if let step = nextMark() { steps.append(step) }
      }
    }
  }

  /// Draws a conversation, the lively ones far more often.
  private mutating func drawConversation() -> Int {
    let fraction = generator.fraction()
    return conversations[Int(Double(conversations.count) * fraction * fraction * fraction)]
  }

  private func others(in conversation: Int) -> [String] {
    let others = stores.corpus.conversations[conversation].participants
      .filter { $0 != localMember }
    return others.isEmpty ? ["somebody"] : others
  }

  private mutating func nextReceived() -> ChatMessage { nextMessage(from: nil) }

  /// Makes the next message of some conversation, and records it.
  private mutating func nextMessage(from sender: String?) -> ChatMessage {
    let conversation = drawConversation()
    var message = stores.stream.next(in: conversation)
    if let sender {
      message.sender = sender
      // Not before what the thread shows as its newest, which a message being sent must replace.
      let last = stores.reference.threads[conversation].summary.lastActivity ?? .min
      message.localTime = max((message.serverTime ?? 0) - 300_000, last)
    } else if message.sender == localMember {
      message.sender = others(in: conversation)[0]
      message.localTime = nil
    }
    time = max(time, message.serverTime ?? 0)
    stores.noteWritten([message])
    today[conversation, default: []].append(message)
    newest[conversation] = message
    return message
  }

  private mutating func nextOpening() -> DayStep {
    let conversation = drawConversation()
    let thread = stores.reference.threads[conversation]
    let end = thread.entries.count
    let pages = (0...generator.index(below: 4)).map { page in
      stores.reference.messages(
        end - (page + 1) * Tail.count..<end - page * Tail.count, of: conversation)
    }
    let isUnread = thread.summary.unreadCount > 0
    if isUnread { stores.noteRead(conversation) }
    return .open(
      conversation, pages: pages.filter { $0.count > 0 }, last: isUnread ? thread.newest : nil,
      time: time)
  }

  /// Draws one of the last messages of the day of a conversation.
  private mutating func drawMessage() -> (conversation: Int, index: Int)? {
    for _ in 0..<100 {
      let conversation = drawConversation()
      guard let messages = today[conversation] else { continue }
      let reach = min(messages.count, 50)
      return (conversation, messages.count - 1 - generator.index(below: reach))
    }
    return nil
  }

  private mutating func nextEdit() -> DayStep? {
    guard let (conversation, index) = drawMessage(), let other = drawMessage(),
      let old = today[conversation]?[index], let text = today[other.conversation]?[other.index].text
    else { return nil }
    var message = old
    message.text = text
    // An older edit than the one that a message arrived with would say nothing new.
    let editTime = max(time, (old.editedAt ?? 0) + 1_000_000)
    message.editedAt = editTime
    replace(old, by: message, at: index)
    return .edit(message, time: editTime)
  }

  private mutating func nextReaction() -> DayStep? {
    guard let (conversation, index) = drawMessage(), let old = today[conversation]?[index]
    else { return nil }
    let members = others(in: conversation)
    let reaction = ChatReaction(
      member: members[generator.index(below: members.count)],
      emoji: ["👍", "❤️", "😂", "🎉"][generator.index(below: 4)], time: time)
    let extras = old.extras ?? MessageExtras()
    let isKnown = extras.reactions.contains {
      $0.member == reaction.member && $0.emoji == reaction.emoji
    }
    if isKnown { return nextReaction() }
    var message = old
    message.extras = extras.adding(reaction)
    replace(old, by: message, at: index)
    return .react(reaction, old)
  }

  private mutating func replace(_ old: ChatMessage, by new: ChatMessage, at index: Int) {
    today[new.conversation]?[index] = new
    if newest[new.conversation]?.id == new.id { newest[new.conversation] = new }
    stores.noteEdited(old, new)
  }

  private mutating func nextMark() -> DayStep? {
    for _ in 0..<1_000 {
      let conversation = drawConversation()
      let members = others(in: conversation)
      let member = members[generator.index(below: members.count)]
      let mark = Mark(conversation: conversation, member: member)
      // A receipt says something new, and nobody sends one for a message of their own.
      guard let message = newest[conversation], message.sender != member,
        marks[mark]?.message.id != message.id
      else { continue }
      marks[mark] = (message, time)
      return .mark(member: member, upTo: message, time: time)
    }
    return nil
  }
}
