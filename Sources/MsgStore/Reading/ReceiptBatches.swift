/// Cuts what is to be told into what is sent at once.
///
/// It says when it has as many batches as are wanted: what comes behind them need not be read then.
struct ReceiptBatches {
  private let conversation: ConversationID
  private let kind: ReceiptKind
  private let form: PendingReceipt.Form
  private let countMax: Int
  /// What is told with the names of the batch that is filled now: of a mark all, else what is left.
  private var range: (after: Position?, upTo: Position)?
  private var ids: [MessageID] = []
  /// The last message of the range that is in the batch.
  private var last: Position?
  private(set) var finished: [PendingReceipt] = []

  init(
    _ conversation: ConversationID, _ kind: ReceiptKind, _ form: PendingReceipt.Form,
    countMax: Int = .max
  ) {
    self.conversation = conversation
    self.kind = kind
    self.form = form
    self.countMax = countMax
  }

  private var idCountMax: Int {
    if case .ids(let count) = form { count } else { PendingReceipt.idCountMax }
  }

  /// Whether there are as many as are wanted.
  var isFull: Bool { finished.count >= countMax }

  private mutating func finish(_ after: Position?, _ upTo: Position?) {
    finished.append(
      PendingReceipt(
        conversation: conversation, kind: kind, after: after, upTo: upTo, ids: ids,
        isMark: form == .mark))
    ids = []
  }

  /// Names go with a mark; as many as it has room for.
  mutating func begin(mark: (after: Position?, upTo: Position)) { range = mark }

  /// A name that goes without a range, or with the mark.
  mutating func add(_ id: MessageID) {
    if ids.count == idCountMax { endBatch() }
    ids.append(id)
  }

  private mutating func endBatch() {
    finish(range?.after, range?.upTo)
    range = nil
  }

  /// There are no more names without a range.
  mutating func endNames() { if !isFull, !ids.isEmpty || range != nil { endBatch() } }

  mutating func begin(_ range: (after: Position?, upTo: Position)) { self.range = range }

  /// The next message of the range.
  mutating func add(_ position: Position) {
    if ids.count == idCountMax, let last {
      finish(range?.after, last)
      range?.after = last
    }
    ids.append(position.id)
    last = position
  }

  /// There are no more messages in the range up to a position.
  mutating func end(at position: Position) {
    if !isFull, let range { finish(range.after, position) }
  }
}
