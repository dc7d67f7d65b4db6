import PageFile

/// The known sequence numbers of conversations, updated by received messages.
///
/// See docs/message-format.md, Q-1 … Q-4. The known numbers are a set, so neither order nor
/// repetition makes a difference.
package struct Sequences: TransactionPart {
  package let transaction: Transaction

  /// Notes the sequence of a message that was placed.
  func inserted(at position: MessagePosition, in conversation: OpenConversation) throws(StoreError)
  {
    if let sequence = position.place.sequence { try note(sequence: sequence, in: conversation) }
  }

  /// Notes the sequence of a message that came, whether now, earlier, or not to stay.
  ///
  /// Costs a comparison if the numbers come in order. Call it before copying the summary for other
  /// changes.
  package func note(sequence: Int64, in conversation: OpenConversation) throws(StoreError) {
    _ = try note(sequences: sequence...sequence, in: conversation)
  }

  /// Notes that no further message is expected under these numbers.
  ///
  /// Returns true if one of them was not known.
  func note(
    sequences range: ClosedRange<Int64>, in conversation: OpenConversation
  ) throws(StoreError) -> Bool {
    let isNew = try join(range, in: conversation)
    if isNew && transaction.hasListeners {
      transaction.notes.sequencesChanged(in: conversation.number)
    }
    return isNew
  }

  private func join(
    _ range: ClosedRange<Int64>, in conversation: OpenConversation
  ) throws(StoreError) -> Bool {
    guard let newest = conversation.summary.sequences else {
      conversation.summary.sequences = range
      return true
    }
    guard range.lowerBound >= newest.lowerBound else {
      return try join(range, below: newest, in: conversation)
    }
    if range.upperBound <= newest.upperBound { return false }
    if range.touches(newest) {
      conversation.summary.sequences = newest.union(range)
    } else {
      try writeRun(newest, of: conversation.number)
      conversation.summary.sequences = range
    }
    return true
  }

  /// Joins a range that begins below the newest run with all runs that it touches.
  private func join(
    _ range: ClosedRange<Int64>, below newest: ClosedRange<Int64>,
    in conversation: OpenConversation
  ) throws(StoreError) -> Bool {
    let known = KnownSequences(view: view, conversation: conversation.number, newest: newest)
    let joinsNewest = range.touches(newest)
    var joined = joinsNewest ? range.union(newest) : range
    while true {
      let end = joined.upperBound == .max ? .max : joined.upperBound + 1
      guard let run = try known.olderRun(from: end), run.touches(joined) else { break }
      if run.lowerBound <= range.lowerBound, run.upperBound >= range.upperBound { return false }
      let isLowest = run.lowerBound <= joined.lowerBound
      joined = joined.union(run)
      // A run with the same first number as the joined run is overwritten by it.
      if isLowest, !joinsNewest { break }
      if StoreDefect.joinedRunKept.isPlanted { break }
      let key = KnownSequences.key(conversation.number, run.lowerBound)
      try transaction.remove(key.bytes, in: Schema.conversations)
    }
    if joinsNewest {
      conversation.summary.sequences = joined
    } else {
      try writeRun(joined, of: conversation.number)
    }
    return true
  }

  private func writeRun(
    _ run: ClosedRange<Int64>, of conversation: UInt32
  ) throws(StoreError) {
    let key = KnownSequences.key(conversation, run.lowerBound)
    var value = ByteBuffer()
    value.append(time: run.upperBound)
    try transaction.insert(key.bytes, value.bytes, in: Schema.conversations)
  }

  func declareAbsent(
    _ range: ClosedRange<Int64>, in id: ConversationID
  ) throws(StoreError) -> Bool {
    try id.validate()
    let conversation = try transaction.conversation(id) { ConversationDetails(id: id) }
    guard try note(sequences: range, in: conversation) else { return false }
    transaction.hasAdded = true
    return true
  }

  /// Returns the known sequences, including those that this transaction has not written yet.
  func knownSequences(of conversation: UInt32) throws(StoreError) -> KnownSequences {
    guard let summary = transaction.openSummary(conversation) else {
      return try view.conversations.knownSequences(of: conversation)
    }
    return KnownSequences(
      view: view, conversation: conversation, newest: summary.sequences)
  }
}

extension Transaction {
  package var sequences: Sequences { Sequences(transaction: self) }
}
