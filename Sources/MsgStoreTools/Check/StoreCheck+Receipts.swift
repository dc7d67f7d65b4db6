import MsgStore
import PageFile

/// Rule 5.
extension StoreCheck {
  func receipts(_ view: StoreView) throws(StoreError) {
    var conversations: Set<UInt32> = []
    try walk(Schema.receipts, view) { (key, value) throws(StoreError) in
      switch ReceiptKey.parts(key) {
      case .member(let conversation, let member):
        conversations.insert(conversation)
        try receipts(of: member, in: conversation, ReceiptRecord(value), view)
      case .own(let conversation):
        conversations.insert(conversation)
        if ConversationReceipts(value) == nil {
          report("receipts: conversation \(conversation) has no record of its own")
        }
      case .exact(let conversation, _, let id):
        conversations.insert(conversation)
        var bytes = ByteReader(value)
        if bytes.varint() == nil || !bytes.isAtEnd {
          report("receipts: message \"\(id)\" of conversation \(conversation) has no ordinal")
        }
      case .pending(let kind, let conversation):
        try listed(kind, conversation, view)
      case nil:
        report("receipts: a key has \(key.count) bytes and is none")
      }
    }
    for conversation in conversations.sorted() {
      do throws(StoreError) {
        try view.within { () throws(StoreError) in try receipts(of: conversation, view) }
      } catch .corruptRecord(let tree, let reason) {
        report("\(tree): \(reason)")
      }
    }
  }

  private func receipts(
    of member: UInt32, in conversation: UInt32, _ record: ReceiptRecord?, _ view: StoreView
  ) throws(StoreError) {
    let name = "receipts of member \(member) in conversation \(conversation)"
    guard let record else { return report("\(name) are no record") }
    do throws(StoreError) {
      _ = try view.member(member)
      guard member == view.localMemberNumber else { return }
      var cursor = Cursor(view.source, Schema.conversations)
      if try view.conversations.summary(conversation, &cursor).toldMark != record.read.mark {
        report("\(name) are not what the conversation says was told")
      }
    } catch .corruptRecord(let tree, let reason) {
      report("\(name): \(tree): \(reason)")
    }
  }

  private func listed(
    _ kind: ReceiptKind, _ conversation: UInt32, _ view: StoreView
  ) throws(StoreError) {
    do throws(StoreError) {
      if try !view.receipts.receipts(conversation).isListed(kind) {
        report("receipts: conversation \(conversation) is listed, and does not know that it is")
      }
    } catch .corruptRecord(let tree, let reason) {
      report("receipts: conversation \(conversation) is listed: \(tree): \(reason)")
    }
  }

  private func receipts(of conversation: UInt32, _ view: StoreView) throws(StoreError) {
    let own = try view.receipts.receipts(conversation)
    let details = try view.conversations.details(conversation)
    let name = "receipts of conversation \"\(details.id)\""
    var cursor = Cursor(view.source, Schema.conversations)
    let summary = try view.conversations.summary(conversation, &cursor)
    let recipients = try view.conversations.members(conversation).recipients(
      without: view.localMemberNumber)
    for kind in ReceiptKind.allCases {
      let others = try view.receipts.others(kind, recipients, in: conversation, known: nil)
      if others.mark != own.others(kind).mark {
        report("\(name): all have come elsewhere: \(kind)")
      }
      let isPending =
        try view.pendingReceipts.hasUntold(kind, conversation, summary, own)
        && !details.hasLeft
      if isPending != own.isListed(kind) {
        report("\(name): the list of what has to be told is wrong: \(kind)")
      }
      let key = ReceiptKey.pending(kind, conversation)
      if try contains(key.bytes, Schema.receipts, view) != own.isListed(kind) {
        report("\(name): it is not in the list of what has to be told as it says: \(kind)")
      }
    }
  }
}
