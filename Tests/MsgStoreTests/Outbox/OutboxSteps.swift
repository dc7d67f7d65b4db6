import PageFile

@testable import MsgStore

// Steps that the outbox takes by itself, called one by one: its model and the random stores compare
// each of them.

extension StoreWriter {
  @discardableResult
  func setStatus(
    _ status: MessageStatus, of id: MessageID, in conversation: ConversationID,
    at time: Timestamp? = nil, retryAt: Timestamp? = nil, failure: SendFailure? = nil
  ) throws(StoreError) -> Bool {
    if let reported = ReportedStatus.allCases.first(where: { $0.messageStatus == status }) {
      return try receiveStatus(reported, of: id, in: conversation, at: time)
    }
    return try transaction.perform(
      try transaction.outboxFollowing.setStatus(
        status, of: id, in: conversation, retryAt: retryAt, failure: failure))
  }

  @discardableResult
  func confirmEdit(
    of id: MessageID, in conversation: ConversationID, at time: Timestamp,
    serverTime: Timestamp? = nil, serverName: MessageID? = nil
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.messageUpdates.confirmEdit(
        of: id, in: conversation, at: time, serverTime: serverTime, serverName: serverName))
  }

  @discardableResult
  func refuseEdit(
    of id: MessageID, in conversation: ConversationID, at time: Timestamp,
    because failure: SendFailure
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.messageUpdates.refuseEdit(
        of: id, in: conversation, at: time, because: failure))
  }

  @discardableResult
  func confirmRetraction(
    of id: MessageID, in conversation: ConversationID, serverTime: Timestamp? = nil
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.messageUpdates.confirmRetraction(
        of: id, in: conversation, serverTime: serverTime))
  }

  @discardableResult
  func refuseRetraction(
    of id: MessageID, in conversation: ConversationID, because failure: SendFailure
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.messageUpdates.refuseRetraction(of: id, in: conversation, because: failure))
  }

  @discardableResult
  func confirm(_ pending: PendingReceipt) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.pendingReceipts.confirm(pending))
  }
}

extension StoreSnapshot {
  func pendingReceipts(
    in conversation: ConversationID, _ kind: ReceiptKind, as form: PendingReceipt.Form
  ) throws(StoreError) -> [PendingReceipt] {
    try within { (view) throws(StoreError) in
      try view.pendingReceipts.pendingReceipts(in: conversation, kind, as: form)
    }
  }

  func conversationsWithPendingReceipts(
    _ kind: ReceiptKind, maximumCount: Int = .max
  ) throws(StoreError) -> [ConversationID] {
    try within { (view) throws(StoreError) in
      try view.pendingReceipts.conversationsWithPendingReceipts(kind, maximumCount: maximumCount)
    }
  }
}
