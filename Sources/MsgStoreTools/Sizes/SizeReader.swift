import MsgStore
import PageFile

/// A reader of the sizes of one conversation's records.
struct SizeReader {
  let view: StoreView

  /// The number of cells that are read at once.
  private static let batchCount = 500

  /// Returns the sizes of a conversation; calls `progress` with the number of messages counted.
  func sizes(
    of conversation: UInt32, progress: (_ messageCount: Int) throws -> Void
  ) throws -> ConversationSizes {
    var sizes = ConversationSizes()
    let prefix = KeyEncoding.key(conversation)
    for tree in Schema.treesByConversation {
      var next: [UInt8]? = prefix.bytes.array()
      while let start = next {
        next = try view.within { () throws(StoreError) in
          try addCells(of: tree, from: start, of: conversation, to: &sizes)
        }
        try progress(sizes.messageCount)
      }
    }
    return sizes
  }

  /// Adds the sizes of one batch of cells; returns the key to continue from, or nil at the end.
  private func addCells(
    of tree: TreeNumber, from start: [UInt8], of conversation: UInt32,
    to sizes: inout ConversationSizes
  ) throws(StoreError) -> [UInt8]? {
    let prefix = KeyEncoding.key(conversation)
    var cursor = try view.cursor(tree, from: start)
    var key = ByteBuffer()
    var count = 0
    while cursor.isAtCell, cursor.keyHasPrefix(prefix.bytes) {
      if count == Self.batchCount {
        cursor.appendKey(to: &key)
        return key.bytes.array()
      }
      count += 1
      let byteCount = cursor.keyByteCount + cursor.valueByteCount
      switch tree {
      case Schema.messages:
        sizes.messageByteCount += byteCount
        try addMessages(at: cursor, to: &sizes)
      case Schema.beside:
        sizes.messageByteCount += byteCount
      case Schema.facts:
        sizes.otherByteCount += byteCount
        try addFact(at: cursor, to: &sizes)
      default:
        sizes.otherByteCount += byteCount
      }
      try storage { () throws(PageFileError) in _ = try cursor.next() }
    }
    return nil
  }

  /// Adds the messages of a cell without unpacking them: a segment states its counts, unless
  /// messages lie beside it.
  private func addMessages(
    at cursor: borrowing Cursor, to sizes: inout ConversationSizes
  ) throws(StoreError) {
    var value = ByteBuffer()
    try view.append(cursor, to: &value)
    if let header = SegmentHeader(value.bytes) {
      sizes.messageCount += header.count
      sizes.textByteCount +=
        try header.hasBeside
        ? textByteCount(of: value.bytes, at: cursor) : header.textByteCount
    } else if let record = MessageRecord(value.bytes) {
      sizes.messageCount += 1
      sizes.textByteCount += record.textByteCount
    } else {
      throw view.corrupt(Schema.messages, "malformed message")
    }
  }

  /// Returns the byte count of the texts of a segment, read through what lies beside it.
  private func textByteCount(
    of segment: Bytes, at cursor: borrowing Cursor
  ) throws(StoreError) -> Int {
    var key = ByteBuffer()
    cursor.appendKey(to: &key)
    var run = MessageRun()
    try view.messages.unpack(segment, at: key.bytes, to: &run)
    return (0..<run.count).reduce(0) { $0 + (MessageRecord(run.record($1))?.textByteCount ?? 0) }
  }

  private func addFact(
    at cursor: borrowing Cursor, to sizes: inout ConversationSizes
  ) throws(StoreError) {
    var key = ByteBuffer()
    cursor.appendKey(to: &key)
    guard FactKey.parts(key.bytes)?.kind == .attachment else { return }
    var value = ByteBuffer()
    try view.append(cursor, to: &value)
    guard let record = AttachmentRecord(value.bytes) else {
      throw view.corrupt(Schema.facts, "malformed attachment")
    }
    sizes.attachmentCount += 1
    // Senders may state any size.
    let (sum, isOver) = sizes.attachmentByteCount.addingReportingOverflow(
      max(record.attachment.byteCount ?? 0, 0))
    sizes.attachmentByteCount = isOver ? .max : sum
  }
}
