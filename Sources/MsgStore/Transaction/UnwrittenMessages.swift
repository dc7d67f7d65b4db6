import PageFile

/// The new messages of a transaction that came last in their thread and are not in their tree yet.
///
/// Many of them may be packed when the transaction ends, and then never need a cell of their own.
/// The delay is invisible: every reader of the tree of messages writes them first. A writer of one
/// message need not: its place is among them, or before all of them.
///
///  1. Names are written and summaries updated at once; only the records are delayed.
///  2. A failed write is not retried, and every later write throws its error, so the transaction
///     cannot
///     be committed without these messages.
final class UnwrittenMessages {
  /// The unwritten messages of one conversation, in thread order.
  final class Thread {
    fileprivate(set) var run = MessageRun()
    fileprivate(set) var byteCount = 0
  }

  /// The limit on unwritten messages.
  private static let maximumCount = 4000
  private static let maximumByteCount = 4 << 20

  /// Conversations with unwritten messages; may include drained ones.
  private var conversations: [OpenConversation] = []
  private var spare: [Thread] = []
  private(set) var count = 0
  private var byteCount = 0
  private var failure: StoreError?

  /// True if the limits are reached and no message should be added.
  var isFull: Bool { count >= Self.maximumCount || byteCount >= Self.maximumByteCount }

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

  /// Stores a record among the unwritten messages of a conversation, replacing the one there, if
  /// any.
  ///
  /// Returns false if its place is before all of them, in the tree.
  func set(_ key: Bytes, _ record: Bytes, in conversation: OpenConversation) -> Bool {
    guard let thread = thread(around: key, in: conversation) else { return false }
    let oldCount = thread.run.count
    thread.run.set(key, record)
    count += thread.run.count - oldCount
    thread.byteCount += record.count
    byteCount += record.count
    return true
  }

  /// Removes a record from the unwritten messages of a conversation.
  ///
  /// Returns false if it is not among them.
  func remove(_ key: Bytes, from conversation: OpenConversation) -> Bool {
    guard let thread = thread(around: key, in: conversation),
      case let found = thread.run.search(key), found.isEqual
    else { return false }
    thread.run.remove(at: found.index)
    count -= 1
    return true
  }

  /// Returns the unwritten messages of a conversation if a key lies behind the first of them.
  private func thread(around key: Bytes, in conversation: OpenConversation) -> Thread? {
    guard let thread = conversation.unwritten, thread.run.count > 0,
      key.compare(to: thread.run.key(0)) >= 0
    else { return nil }
    return thread
  }

  /// Takes out the unwritten messages of one conversation, for the caller to write or pack.
  func take(from conversation: OpenConversation) -> Thread? {
    guard let thread = conversation.unwritten else { return nil }
    // The conversation stays in the list, drained.
    conversation.unwritten = nil
    count -= thread.run.count
    byteCount -= thread.byteCount
    return thread
  }

  /// Takes back a thread from `take` once its messages are stored.
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
  @inline(never)
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
