import PageFile

/// The moments of the messages with one tag.
struct TagMoments: MomentIndex {
  private let view: StoreView
  private let number: UInt32
  private let tag: UInt8

  init(_ view: StoreView, in number: UInt32, _ tag: UInt8) {
    self.view = view
    self.number = number
    self.tag = tag
  }

  func moments(
    in conversation: UInt32, from moment: ThreadMoment, isInclusive: Bool, isForward: Bool,
    maximumCount: Int
  ) throws(StoreError) -> [ThreadMoment] {
    try view.moments(
      behind: TagKey.count(conversation, tag), in: Schema.index, from: moment,
      isInclusive: isInclusive, isForward: isForward, maximumCount: maximumCount)
  }

  func lists(
    _ cursor: inout MessageCursor, _ value: inout ByteBuffer
  ) throws(StoreError) -> Bool {
    guard let record = try cursor.record(&value) else {
      throw view.corrupt(Schema.messages, "tags of conversation \(number): malformed message")
    }
    return try view.tags.has(TagSet(number: tag), record)
  }
}
