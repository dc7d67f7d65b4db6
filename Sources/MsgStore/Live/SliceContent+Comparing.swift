import PageFile

/// Comparison of the messages of two slices in place, without creating them.
extension SliceContent {
  private func row(_ index: Int) -> SliceRow {
    precondition(index >= 0 && index < count, "message index out of range")
    let backwardCount = count - forwardCount
    // Unsafe: within the rows, whose memory lives as long as this object.
    return unsafe rowBase[index < backwardCount ? count - 1 - index : index - backwardCount]
  }

  private func bytes(_ offset: Int, _ byteCount: Int) -> Bytes {
    // Unsafe: the offsets in rows are within the buffer.
    unsafe Bytes(UnsafeRawBufferPointer(start: byteBase + offset, count: byteCount))
  }

  /// Orders two messages by place: negative if the first precedes, 0 if both have the same place.
  func order(_ index: Int, _ other: SliceContent, _ otherIndex: Int) -> Int {
    let (a, b) = (row(index), other.row(otherIndex))
    let (place, otherPlace) = (a.place, b.place)
    if place != otherPlace { return Place.precedes(place, otherPlace) ? -1 : 1 }
    return bytes(a.idOffset, Int(a.idByteCount))
      .compare(to: other.bytes(b.idOffset, Int(b.idByteCount)))
  }

  /// Returns true if two messages at the same place look the same, with their authors; nil if they
  /// are different messages.
  func isSame(_ index: Int, _ other: SliceContent, _ otherIndex: Int) -> Bool? {
    let (a, b) = (row(index), other.row(otherIndex))
    guard a.isPlain && b.isPlain else {
      let (message, otherMessage) = (self.message(at: index), other.message(at: otherIndex))
      return message.id == otherMessage.id ? looksSame(index, other, otherIndex) : nil
    }
    defer {
      extendLifetime(self)
      extendLifetime(other)
    }
    return a.fields == b.fields && a.extra == b.extra && a.textByteCount == b.textByteCount
      && SliceRares.areSame(origin, a.rareIndex, other.origin, b.rareIndex)
      && bytes(a.replyOffset, Int(a.replyByteCount))
        .compare(to: other.bytes(b.replyOffset, Int(b.replyByteCount))) == 0
      && origin.senders[Int(a.senderIndex)] == other.origin.senders[Int(b.senderIndex)]
      && bytes(a.textOffset, Int(a.textByteCount))
        .compare(to: other.bytes(b.textOffset, Int(b.textByteCount))) == 0
      && origin.conversation == other.origin.conversation
      && hasSameProfile(a.senderIndex, other, b.senderIndex)
  }

  /// Returns true if two messages at any places look the same, with their authors.
  func looksSame(_ index: Int, _ other: SliceContent, _ otherIndex: Int) -> Bool {
    message(at: index) == other.message(at: otherIndex)
      && hasSameProfile(
        row(index).senderIndex, other, other.row(otherIndex).senderIndex)
  }

  private func hasSameProfile(_ sender: Int32, _ other: SliceContent, _ otherSender: Int32) -> Bool
  {
    if origin.hasNoProfiles && other.origin.hasNoProfiles { return true }
    return origin.profile(at: sender) == other.origin.profile(at: otherSender)
  }
}
