import MsgStore
import PageFile
import Testing

/// A message with attachments of some kinds.
func attached(
  _ id: MessageID, _ kinds: AttachmentKind..., at time: Int64?, _ sequence: Int64? = nil,
  from sender: MemberID = "you", text: String = "look"
) -> Message {
  var message = message(id, at: time, sequence, from: sender, text: text)
  message.attachments = kinds.enumerated().map { MessageAttachment(id: "a\($0)", kind: $1) }
  return message
}

func mentioning(
  _ members: [MemberID], _ id: MessageID, at time: Int64?, _ sequence: Int64? = nil,
  from sender: MemberID = "you"
) -> Message {
  var message = message(id, at: time, sequence, from: sender)
  message.mentions = members
  return message
}

extension StoreReading where Self: ~Copyable {
  /// The names of all messages with a tag, oldest first, read both ways.
  func names(
    _ tag: MessageTag, in conversation: ConversationID = "room"
  ) throws -> [String] {
    let tagged = try thread(conversation).tagged(tag)
    let slice = try tagged.tail(10_000)
    #expect(try tagged.after(.start, count: 10_000) == slice)
    #expect(try tagged.count == slice.count)
    #expect(slice.older == .end && slice.newer == .end)
    return slice.ids
  }
}

extension MessageStore {
  func names(
    _ tag: MessageTag, in conversation: ConversationID = "room"
  ) throws -> [String] {
    try read { try $0.names(tag, in: conversation) }
  }
}

extension MemoryDirectory {
  /// The cells of the index of a closed store that have one of some kinds.
  func indexCells(
    _ kinds: IndexKind..., in name: String = "store"
  ) throws -> [(key: [UInt8], value: [UInt8])] {
    var options = DatabaseOptions()
    options.access = .readOnly
    let database = try Database(in: self, name: name, options: options)
    defer { withExtendedLifetime(database) {} }
    let source = try database.beginRead().source
    try source.enter()
    defer { source.leave() }
    var cursor = Cursor(source, Schema.index)
    var cells: [(key: [UInt8], value: [UInt8])] = []
    var isThere = try cursor.first()
    while isThere {
      var key = ByteBuffer()
      var value = ByteBuffer()
      cursor.appendKey(to: &key)
      try cursor.appendValue(to: &value)
      if let kind = key.bytes.indexKind, kinds.contains(kind) {
        cells.append((key.bytes.array(), value.bytes.array()))
      }
      isThere = try cursor.next()
    }
    return cells
  }
}
