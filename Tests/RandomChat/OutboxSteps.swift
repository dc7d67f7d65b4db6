package import MsgStore

/// `Simulation` of the commits that `Scripts/oracle` builds has a type of this name, too.
package typealias SendFailure = MsgStore.SendFailure

/// Steps that the outbox takes by itself, for tests that see the inside of the store and call them
/// one by one.
package protocol OutboxSteps: Sendable {
  func setStatus(
    _ status: MessageStatus, of id: MessageID, in conversation: ConversationID,
    retryAt: Timestamp?, failure: SendFailure?, by writer: borrowing StoreWriter
  ) throws(StoreError) -> Bool

  func confirmEdit(
    of id: MessageID, in conversation: ConversationID, at time: Timestamp, serverTime: Timestamp,
    by writer: borrowing StoreWriter
  ) throws(StoreError) -> Bool

  func refuseEdit(
    of id: MessageID, in conversation: ConversationID, at time: Timestamp,
    because failure: SendFailure, by writer: borrowing StoreWriter
  ) throws(StoreError) -> Bool

  func confirmRetraction(
    of id: MessageID, in conversation: ConversationID, by writer: borrowing StoreWriter
  ) throws(StoreError) -> Bool

  func refuseRetraction(
    of id: MessageID, in conversation: ConversationID, because failure: SendFailure,
    by writer: borrowing StoreWriter
  ) throws(StoreError) -> Bool

  func confirm(
    _ receipt: PendingReceipt, by writer: borrowing StoreWriter
  ) throws(StoreError) -> Bool

  func pendingReceipts(
    in conversation: ConversationID, _ kind: ReceiptKind, as form: PendingReceipt.Form,
    of snapshot: borrowing StoreSnapshot
  ) throws(StoreError) -> [PendingReceipt]
}
