import PageFile

/// New messages of a transaction that are not in their tree yet: those that came behind all others of
/// their thread.
///
/// Many of them may be packed when the transaction ends, and need no cell of their own before. Nobody
/// sees that they are not there: whoever looks at the tree of messages has them written first.
///
///  1. Names and summaries are written or noted at once, only the records wait.
///  2. A write that fails is not tried again, and every later one throws its error: so the transaction
///     cannot be committed without them.
final class UnwrittenMessages {
  /// Those of one conversation, in their order.
  final class Thread {
    fileprivate(set) var run = MessageRun()
    fileprivate(set) var byteCount = 0
  }

  /// The most that wait.
  private static let countMax = 4000
  private static let byteCountMax = 4 << 20

  /// Those of which something waits, and some of which nothing does any more.
  private var conversations: [OpenConversation] = []
  private var spare: [Thread] = []
  private(set) var count = 0
  private var byteCount = 0
  private var failure: StoreError?

  /// Whether no more should wait.
  var isFull: Bool { count >= Self.countMax || byteCount >= Self.byteCountMax }

  func append(_ key: Bytes, _ record: Bytes, to conversation: OpenConversation) {
    let thread = conversation.unwritten ?? add(conversation)
    thread.run.append(key, record)
    thread.byteCount += record.count
    count += 1
    byteCount += record.count
  }

  private func add(_ conversation: OpenConversation) -> Thread {
    let thread = spare.popLast() ?? Thread()
    conversation.unwritten = thread
    conversations.append(conversation)
    return thread
  }

  /// Takes out what waits of one conversation, to be written or packed by the caller.
  func take(from conversation: OpenConversation) -> Thread? {
    guard let thread = conversation.unwritten else { return nil }
    // It stays in the list, where it has nothing any more.
    conversation.unwritten = nil
    count -= thread.run.count
    byteCount -= thread.byteCount
    return thread
  }

  /// Takes back what `take` gave, whose messages are stored.
  func recycle(_ thread: Thread) {
    thread.run.removeAll()
    thread.byteCount = 0
    if spare.count < 64 { spare.append(thread) }
  }

  /// Writes all messages to cells of their own.
  func flush(to source: PageSource) throws(StoreError) {
    if let failure { throw failure }
    do throws(StoreError) {
      while let conversation = conversations.popLast() {
        guard let thread = take(from: conversation) else { continue }
        try Self.write(thread.run, 0..<thread.run.count, to: source)
        recycle(thread)
      }
    } catch {
      failure = error
      throw error
    }
  }

  /// Writes messages of a run to cells of their own.
  static func write(
    _ run: borrowing MessageRun, _ range: Range<Int>, to source: PageSource
  ) throws(StoreError) {
    for index in range {
      let (key, record) = (run.key(index), run.record(index))
      _ = try storage { () throws(PageFileError) in
        try BTree(source, Schema.messages).insert(key, record)
      }
    }
  }
}
