import MsgStore
import MsgStoreTools

/// The outbox of the sample chat: three messages held up on a train without a connection, the
/// receipts of that time, and one entry that only the client understands.
///
/// All entries are held, as in every restored store: an export of the restored sample equals the
/// sample.
enum SampleOutbox {
  static func entries(for messages: [ExportedMessage]) -> [ExportedEntry] {
    var entries = messages.filter { $0.serverTimestamp == nil }.map { message in
      var entry = ExportedEntry()
      entry.task = .send
      entry.conversation = message.conversation
      entry.message = message.id
      entry.created = message.localTime
      entry.attemptCount = message.retryCount
      entry.failure = message.failure
      return entry
    }
    guard let last = messages.last else { return entries }
    var receipt = ExportedEntry()
    receipt.task = .readReceipt
    receipt.conversation = last.conversation
    receipt.created = last.later(1_000_000)
    var work = ExportedEntry()
    work.name = "push token"
    work.payload = Array("a1b2".utf8)
    work.created = last.later(2_000_000)
    entries += [receipt, work]
    for index in entries.indices {
      entries[index].state = .held
      entries[index].token = OutboxToken(String(0x5a_0001 + index, radix: 16).padded(to: 32))
    }
    return entries
  }
}

extension String {
  fileprivate func padded(to count: Int) -> String {
    String(repeating: "0", count: max(0, count - utf8.count)) + self
  }
}
