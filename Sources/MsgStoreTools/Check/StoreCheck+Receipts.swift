import MsgStore
import PageFile

/// Rule 6: receipts.
extension StoreCheck {
  func receipts(_ view: StoreView) throws(StoreError) {
    var conversations: Set<UInt32> = []
    try walk(Schema.conversations, view) { (key, value) throws(StoreError) in
      switch ReceiptKey.parts(key) {
      case .member(let conversation, let member):
        conversations.insert(conversation)
        try receipts(of: member, in: conversation, ReceiptRecord(value), view)
      case .own(let conversation):
        conversations.insert(conversation)
        if ConversationReceipts(value) == nil {
          report("receipts: conversation \(conversation): malformed record")
        }
      case .exact(let conversation, _, let id, _):
        conversations.insert(conversation)
        if value.count > 0 {
          report("receipts: message \"\(id)\" of conversation \(conversation): has a value")
        }
      case nil:
        // Keys of no kind are reported with the conversations.
        break
      }
    }
    try walk(Schema.index, view) { (key, _) throws(StoreError) in
      guard key.indexKind == .pendingReceipts else { return }
      guard let (kind, conversation) = PendingKey.parts(key) else {
        return report("index: pending receipts: malformed key (\(key.count) bytes)")
      }
      try listed(kind, conversation, view)
    }
    for conversation in conversations.sorted() {
      try reporting { () throws(StoreError) in
        try view.within { () throws(StoreError) in try receipts(of: conversation, view) }
      }
    }
  }

  private func receipts(
    of member: UInt32, in conversation: UInt32, _ record: ReceiptRecord?, _ view: StoreView
  ) throws(StoreError) {
    let name = "receipts of member \(member) in conversation \(conversation)"
    guard let record else { return report("\(name): malformed record") }
    try reporting("\(name): ") { () throws(StoreError) in
      _ = try view.member(member)
      guard member == view.localMemberNumber else { return }
      if try view.conversations.summary(conversation).toldMark != record.read.mark {
        report("\(name): read mark disagrees with the summary")
      }
    }
  }

  private func listed(
    _ kind: ReceiptKind, _ conversation: UInt32, _ view: StoreView
  ) throws(StoreError) {
    try reporting("receipts: conversation \(conversation): listed as pending: ") {
      () throws(StoreError) in
      if try !view.receipts.receipts(conversation).isListed(kind) {
        report("receipts: conversation \(conversation): listed as pending, but not marked so")
      }
    }
  }

  private func receipts(of conversation: UInt32, _ view: StoreView) throws(StoreError) {
    let own = try view.receipts.receipts(conversation)
    let details = try view.conversations.details(conversation)
    let name = "receipts of conversation \"\(details.id)\""
    let summary = try view.conversations.summary(conversation)
    try sequences(of: conversation, own, name, view)
    let recipients = try view.conversations.members(conversation).recipients(
      without: view.localMemberNumber)
    if own.othersSince != Recipient.firstJoined(recipients) {
      report("\(name): wrong time of the first joining")
    }
    for kind in ReceiptKind.allCases {
      let others = try view.receipts.others(kind, .listed(recipients), in: conversation, known: nil)
      if others.mark != own.others(kind).mark {
        report("\(name): wrong mark of the other members (\(kind))")
      }
      let isPending =
        try view.pendingReceipts.hasUntold(kind, conversation, summary, own)
        && !details.hasLeft
      if isPending != own.isListed(kind) {
        report("\(name): wrong pending flag (\(kind))")
      }
      if try view.contains(PendingKey.key(kind, conversation), in: Schema.index)
        != own.isListed(kind)
      {
        report("\(name): pending list disagrees with the flag (\(kind))")
      }
    }
  }
  /// The limits of the marks up to sequences.
  private func sequences(
    of conversation: UInt32, _ own: ConversationReceipts, _ name: String, _ view: StoreView
  ) throws(StoreError) {
    var isWrong = false
    try view.receipts.forEachReceipts(conversation) { (_, record) in
      for step in record.read.sequences + record.delivered.sequences {
        if own.sequenceBound.map({ $0 < step.sequence }) ?? true { isWrong = true }
        if let floor = own.sequenceFloor, step.position.map({ $0 < floor }) ?? true {
          isWrong = true
        }
      }
      return true
    }
    if isWrong { report("\(name): wrong limits of the marks up to sequences") }
  }
}
