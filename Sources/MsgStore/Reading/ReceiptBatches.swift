/// Divides the receipts to tell into batches that are sent at once.
///
/// It reports when it has the wanted number of batches, so that the rest need not be read.
struct ReceiptBatches {
  private let conversation: ConversationID
  private let kind: ReceiptKind
  private let form: PendingReceipt.Form
  private let maximumCount: Int
  /// The range told with the names of the current batch: the whole range of a mark, else the part
  /// that is left.
  private var range: (after: MessagePosition?, upTo: MessagePosition)?
  private var ids: [MessageID] = []
  /// The last message of the range that is in the batch.
  private var last: MessagePosition?
  private(set) var finished: [PendingReceipt] = []

  init(
    _ conversation: ConversationID, _ kind: ReceiptKind, _ form: PendingReceipt.Form,
    maximumCount: Int = .max
  ) {
    self.conversation = conversation
    self.kind = kind
    self.form = form
    self.maximumCount = maximumCount
  }

  private var maximumIDCount: Int {
    if case .ids(let count) = form { count } else { PendingReceipt.maximumIDCount }
  }

  /// True if there are as many batches as wanted.
  var isFull: Bool { finished.count >= maximumCount }

  private mutating func finishBatch(_ after: MessagePosition?, _ upTo: MessagePosition?) {
    finished.append(
      PendingReceipt(
        conversation: conversation, kind: kind, after: after, upTo: upTo, ids: ids,
        isMark: form == .mark))
    ids = []
  }

  /// Begins a mark.
  ///
  /// Names go with it, as many as it has room for.
  mutating func begin(mark: (after: MessagePosition?, upTo: MessagePosition)) { range = mark }

  /// Adds a name that goes without a range, or with the mark.
  mutating func add(_ id: MessageID) {
    if ids.count == maximumIDCount { endBatch() }
    ids.append(id)
  }

  private mutating func endBatch() {
    finishBatch(range?.after, range?.upTo)
    range = nil
  }

  /// Ends the names that go without a range.
  mutating func endNames() { if !isFull, !ids.isEmpty || range != nil { endBatch() } }

  mutating func begin(_ range: (after: MessagePosition?, upTo: MessagePosition)) {
    self.range = range
  }

  /// Adds the next message of the range.
  mutating func add(_ position: MessagePosition) {
    if ids.count == maximumIDCount, let last {
      finishBatch(range?.after, last)
      range?.after = last
    }
    ids.append(position.id)
    last = position
  }

  /// Ends the range at a position.
  mutating func end(at position: MessagePosition) {
    if !isFull, let range { finishBatch(range.after, position) }
  }
}
