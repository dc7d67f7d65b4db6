/// Divides the receipts to tell into batches that are sent at once.
///
/// It reports when it has the wanted number of batches, so that the rest need not be read.
struct ReceiptBatches {
  private let conversation: ConversationID
  private let kind: ReceiptKind
  private let form: PendingReceipt.Form
  private let countMax: Int
  /// The range told with the names of the current batch: the whole range of a mark, else the part
  /// that is left.
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

  /// True if there are as many batches as wanted.
  var isFull: Bool { finished.count >= countMax }

  private mutating func finishBatch(_ after: Position?, _ upTo: Position?) {
    finished.append(
      PendingReceipt(
        conversation: conversation, kind: kind, after: after, upTo: upTo, ids: ids,
        isMark: form == .mark))
    ids = []
  }

  /// Begins a mark.
  ///
  /// Names go with it, as many as it has room for.
  mutating func begin(mark: (after: Position?, upTo: Position)) { range = mark }

  /// Adds a name that goes without a range, or with the mark.
  mutating func add(_ id: MessageID) {
    if ids.count == idCountMax { endBatch() }
    ids.append(id)
  }

  private mutating func endBatch() {
    finishBatch(range?.after, range?.upTo)
    range = nil
  }

  /// Ends the names that go without a range.
  mutating func endNames() { if !isFull, !ids.isEmpty || range != nil { endBatch() } }

  mutating func begin(_ range: (after: Position?, upTo: Position)) { self.range = range }

  /// Adds the next message of the range.
  mutating func add(_ position: Position) {
    if ids.count == idCountMax, let last {
      finishBatch(range?.after, last)
      range?.after = last
    }
    ids.append(position.id)
    last = position
  }

  /// Ends the range at a position.
  mutating func end(at position: Position) {
    if !isFull, let range { finishBatch(range.after, position) }
  }
}
