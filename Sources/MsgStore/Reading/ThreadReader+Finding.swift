import PageFile

/// Finds messages by their sequence numbers, of which there is no index.
extension ThreadReader {
  /// Returns the message with a sequence number.
  func message(
    sequence: Int64, in conversation: ConversationID
  ) throws(StoreError) -> Message? {
    guard let (number, conversation) = try view.find(conversation),
      let run = try view.conversations.knownSequences(of: number).run(from: sequence),
      run.contains(sequence)
    else { return nil }
    var position = try bisected(sequence, in: number)
    if position == nil { position = try walked(sequence, in: number) }
    guard let position else { return nil }
    return try message(position.id, in: conversation)
  }

  /// Returns the position of a sequence number, found by time.
  ///
  /// Returns nil if the number is not where it would be if numbers ascended with times.
  private func bisected(
    _ sequence: Int64, in conversation: UInt32
  ) throws(StoreError) -> MessagePosition? {
    guard
      let first = try numbered(from: .start, in: conversation),
      let last = try view.messages.lastPosition(upTo: .firstPending, in: conversation)
    else { return nil }
    var (low, high) = (first.place.time, last.place.time)
    while low <= high {
      // The upper middle, so that each step narrows the range.
      let distance = UInt64(bitPattern: high &- low)
      let middle = low &+ Int64(bitPattern: distance / 2 + distance % 2)
      let start = MessagePosition(.acknowledged(middle, sequence: sequence), "")
      let found = try numbered(from: start, in: conversation)
      if let found, found.place.sequence == sequence { return found }
      if let found, let number = found.place.sequence, number < sequence {
        guard found.place.time > low else { return nil }
        low = found.place.time
      } else {
        guard middle > low else { return nil }
        high = middle - 1
      }
    }
    return nil
  }

  /// Returns the position of the first message with a number at or behind a position.
  private func numbered(
    from start: MessagePosition, in conversation: UInt32
  ) throws(StoreError) -> MessagePosition? {
    var scan = try ThreadScan(view, conversation, from: start)
    while try scan.next() != nil {
      let position = try scan.position()
      if position.place.isPending { return nil }
      if position.place.sequence != nil { return position }
    }
    return nil
  }

  private func walked(
    _ sequence: Int64, in conversation: UInt32
  ) throws(StoreError) -> MessagePosition? {
    var scan = try ThreadScan(view, conversation, from: .start)
    while try scan.next() != nil {
      let position = try scan.position()
      if position.place.isPending { return nil }
      if position.place.sequence == sequence { return position }
    }
    return nil
  }
}
