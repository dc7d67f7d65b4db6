import MsgStore
import RandomChat

/// The steps of the outbox, called one by one.
struct CalledSteps: OutboxSteps {
  func setStatus(
    _ status: MessageStatus, of id: MessageID, in conversation: ConversationID,
    retryAt: Timestamp?, failure: SendFailure?, by writer: borrowing StoreWriter
  ) throws(StoreError) -> Bool {
    try writer.setStatus(status, of: id, in: conversation, retryAt: retryAt, failure: failure)
  }

  func confirmEdit(
    of id: MessageID, in conversation: ConversationID, at time: Timestamp, serverTime: Timestamp,
    by writer: borrowing StoreWriter
  ) throws(StoreError) -> Bool {
    try writer.confirmEdit(of: id, in: conversation, at: time, serverTime: serverTime)
  }

  func refuseEdit(
    of id: MessageID, in conversation: ConversationID, at time: Timestamp,
    because failure: SendFailure, by writer: borrowing StoreWriter
  ) throws(StoreError) -> Bool {
    try writer.refuseEdit(of: id, in: conversation, at: time, because: failure)
  }

  func confirmRetraction(
    of id: MessageID, in conversation: ConversationID, by writer: borrowing StoreWriter
  ) throws(StoreError) -> Bool {
    try writer.confirmRetraction(of: id, in: conversation)
  }

  func refuseRetraction(
    of id: MessageID, in conversation: ConversationID, because failure: SendFailure,
    by writer: borrowing StoreWriter
  ) throws(StoreError) -> Bool {
    try writer.refuseRetraction(of: id, in: conversation, because: failure)
  }

  func confirm(
    _ receipt: PendingReceipt, by writer: borrowing StoreWriter
  ) throws(StoreError) -> Bool {
    try writer.confirm(receipt)
  }

  func pendingReceipts(
    in conversation: ConversationID, _ kind: ReceiptKind, as form: PendingReceipt.Form,
    of snapshot: borrowing StoreSnapshot
  ) throws(StoreError) -> [PendingReceipt] {
    try snapshot.pendingReceipts(in: conversation, kind, as: form)
  }
}
