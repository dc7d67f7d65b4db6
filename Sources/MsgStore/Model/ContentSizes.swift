/// The bytes of what the messages of a conversation say and carry.
///
/// These are the bytes of texts, and those of files as messages state them. `ConversationSizes` of
/// MsgStoreTools has the bytes that a store takes for them.
public struct ContentSizes: Sendable, Equatable {
  /// The attachments of one kind.
  public struct AttachmentSizes: Sendable, Equatable {
    /// The number of attachments.
    public internal(set) var count = 0
    /// The bytes of their files; attachments of unknown size add nothing.
    public internal(set) var byteCount: Int64 = 0
    /// The number of attachments that have a local path.
    public internal(set) var localCount = 0
    /// The bytes of the files of those that have a local path.
    ///
    /// Attachments that share a file count it each.
    public internal(set) var localByteCount: Int64 = 0

    /// Creates the sizes of no attachment.
    public init() {}

    /// Adds those of other attachments.
    public static func += (sizes: inout Self, others: Self) {
      sizes.count += others.count
      sizes.localCount += others.localCount
      sizes.byteCount = sizes.byteCount.clampedSum(others.byteCount)
      sizes.localByteCount = sizes.localByteCount.clampedSum(others.localByteCount)
    }

    mutating func add(_ attachment: MessageAttachment) {
      // Senders may state any size.
      let stated = max(attachment.byteCount ?? 0, 0)
      count += 1
      byteCount = byteCount.clampedSum(stated)
      guard let path = attachment.localPath, !path.isEmpty else { return }
      localCount += 1
      localByteCount = localByteCount.clampedSum(stated)
    }
  }

  /// The number of messages.
  public internal(set) var messageCount = 0
  /// The bytes of their texts in UTF-8, without earlier versions.
  public internal(set) var textByteCount = 0
  /// The attachments by kind; a kind without any is missing.
  public internal(set) var attachments: [AttachmentKind: AttachmentSizes] = [:]

  /// Creates the sizes of no message.
  public init() {}

  /// Adds those of other messages.
  public static func += (sizes: inout Self, others: Self) {
    sizes.messageCount += others.messageCount
    sizes.textByteCount += others.textByteCount
    sizes.attachments.merge(others.attachments) { sum, other in
      var sum = sum
      sum += other
      return sum
    }
  }
}

extension Int64 {
  /// Returns the sum with another count, or the greatest number if it is beyond that.
  fileprivate func clampedSum(_ other: Int64) -> Int64 {
    let (sum, isOver) = addingReportingOverflow(other)
    return isOver ? .max : sum
  }
}
