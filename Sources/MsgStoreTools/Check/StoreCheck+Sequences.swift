import MsgStore
import PageFile

/// Rules 7 and 8: known sequences and client data.
extension StoreCheck {
  func sequences(_ view: StoreView) throws(StoreError) {
    var previous: (conversation: UInt32, run: ClosedRange<Int64>)?
    var known: KnownSequences?
    try walk(Schema.conversations, view) { (key, value) throws(StoreError) in
      guard let run = KnownSequences.run(key, value), let conversation = key.bigEndianNumber(at: 0)
      else { return }
      let name = "sequences: run \(run) of conversation \(conversation)"
      if let previous, previous.conversation == conversation,
        previous.run.upperBound >= run.lowerBound || run.touches(previous.run)
      {
        report("\(name): touches the previous run")
      }
      previous = (conversation, run)
      if known?.conversation != conversation {
        known = try knownSequences(of: conversation, view)
      }
      guard let newest = known?.newest else {
        return report("\(name): no newest run in the summary")
      }
      if run.upperBound >= newest.lowerBound || run.touches(newest) {
        report("\(name): not below the newest run (\(newest))")
      }
    }
    try messageSequences(view)
  }

  /// Checks that the sequence of every message is known.
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
          "sequences: conversation \(conversation): "
            + "sequence \(sequence) of a message is not known")
      }
    }
  }

  /// Returns the known sequences of a conversation; a corrupt summary is reported elsewhere.
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
        return report("client: malformed key (\(key.count) bytes)")
      }
      if value.count > SyncPosition.maximumByteCount {
        report("client: value too long (\(value.count) bytes)")
      }
      guard conversation != ClientKey.store else { return }
      if try !view.contains(KeyEncoding.key(conversation), in: Schema.conversations) {
        report("client: unknown conversation (\(conversation))")
      }
    }
  }
}

/// Rule 13: profiles of members.
extension StoreCheck {
  func directory(_ view: StoreView) throws(StoreError) {
    try walk(Schema.directory, view) { (key, value) throws(StoreError) in
      try reporting { () throws(StoreError) in
        if let number = MemberFields.member(key) {
          let _: MemberFields = try view.decoded(value, at: key)
          _ = try view.member(number)
          return
        }
        let (number, _) = try view.directory.decoded(key, value)
        _ = try view.member(number)
      }
    }
  }
}

/// Rule 16: rules for the history that is kept.
extension StoreCheck {
  func retention(_ view: StoreView) throws(StoreError) {
    try walk(Schema.retention, view) { (key, value) throws(StoreError) in
      guard key.count == KeyEncoding.numberByteCount, let number = key.bigEndianNumber(at: 0) else {
        return report("retention: malformed key (\(key.count) bytes)")
      }
      guard let record = RetentionRecord(value) else {
        return report("retention: malformed record (conversation \(number))")
      }
      if record.isEmpty { report("retention: empty record (conversation \(number))") }
      if number == RetentionRecord.store {
        if record.floor != nil { report("retention: the store has a pruned part") }
      } else if try !view.contains(KeyEncoding.key(number), in: Schema.conversations),
        !leftovers.contains(number)
      {
        report("retention: unknown conversation (\(number))")
      }
    }
  }
}
