import MsgStore
import PageFile

/// Rules 6 and 7.
extension StoreCheck {
  func sequences(_ view: StoreView) throws(StoreError) {
    var previous: (conversation: UInt32, run: ClosedRange<Int64>)?
    var known: KnownSequences?
    try walk(Schema.sequences, view) { (key, value) throws(StoreError) in
      guard let conversation = key.bigEndianNumber(at: 0),
        let run = KnownSequences.run(key, value)
      else { return report("sequences: an entry of \(key.count) bytes is no run") }
      let name = "sequences: the run \(run) of conversation \(conversation)"
      if let previous, previous.conversation == conversation,
        previous.run.upperBound >= run.lowerBound || run.touches(previous.run)
      {
        report("\(name) touches the one before")
      }
      previous = (conversation, run)
      if known?.conversation != conversation {
        known = try knownSequences(of: conversation, view)
      }
      guard let newest = known?.newest else {
        return report("\(name) is not below a newest one, as there is none")
      }
      if run.upperBound >= newest.lowerBound || run.touches(newest) {
        report("\(name) is not below the newest, \(newest)")
      }
    }
    try messageSequences(view)
  }

  /// The number of every message is known.
  private func messageSequences(_ view: StoreView) throws(StoreError) {
    var known: KnownSequences?
    var run: ClosedRange<Int64>?
    try walkMessages(view, reports: false) { (key, value) throws(StoreError) in
      guard let conversation = key.bigEndianNumber(at: 0),
        let (place, _) = key.place(at: KeyEncoding.numberByteCount), let sequence = place.sequence
      else { return }
      if known?.conversation != conversation {
        known = try knownSequences(of: conversation, view)
        run = nil
      }
      if let run, run.contains(sequence) { return }
      do throws(StoreError) {
        run = try known?.run(from: sequence)
      } catch .corruptRecord(let tree, let reason) {
        return report("\(tree): \(reason)")
      }
      if run.map({ !$0.contains(sequence) }) ?? true {
        report(
          "sequences: \(sequence) of conversation \(conversation) has a message, "
            + "and is not known")
      }
    }
  }

  /// What is known in a conversation; what is corrupt there is reported with its summary.
  private func knownSequences(
    of conversation: UInt32, _ view: StoreView
  ) throws(StoreError) -> KnownSequences {
    do throws(StoreError) {
      return try view.conversations.knownSequences(of: conversation)
    } catch .corruptRecord {
      return KnownSequences(view: view, conversation: conversation, newest: nil)
    }
  }

  func clientData(_ view: StoreView) throws(StoreError) {
    try walk(Schema.client, view) { (key, value) throws(StoreError) in
      guard let (conversation, _) = ClientKey.parts(key) else {
        return report("client: a key of \(key.count) bytes is none")
      }
      if value.count > SyncPosition.byteCountMax {
        report("client: a value has \(value.count) bytes")
      }
      guard conversation != ClientKey.store else { return }
      let summary = KeyEncoding.key(conversation)
      if try !contains(summary.bytes, Schema.conversations, view) {
        report("client: there is no conversation \(conversation)")
      }
    }
  }
}
