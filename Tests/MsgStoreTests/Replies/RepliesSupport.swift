import MsgStore
import PageFile
import Testing

/// A message that answers another.
func reply(
  _ id: MessageID, to answered: MessageID, at time: Int64?, _ sequence: Int64? = nil,
  in conversation: ConversationID = "room", from sender: MemberID = "you", local: Int64? = nil
) -> Message {
  Message(
    id: id, in: conversation, from: sender, text: "re \(id)",
    localTime: local.map(Timestamp.init(microseconds:)),
    serverTimestamp: time.map(Timestamp.init(microseconds:)), sequence: sequence,
    replyTo: answered)
}

extension StoreReading where Self: ~Copyable {
  /// The names of all replies to a message, oldest first.
  func replyNames(
    to id: MessageID, in conversation: ConversationID = "room"
  ) throws -> [String] {
    let replies = try replies(to: id, in: conversation)
    let slice = try replies.oldest(10_000)
    #expect(try replies.count() == slice.count)
    #expect(slice.older == .end && slice.newer == .end)
    return slice.ids
  }
}

extension MessageStore {
  func replyNames(
    to id: MessageID, in conversation: ConversationID = "room"
  ) throws -> [String] {
    try read { try $0.replyNames(to: id, in: conversation) }
  }
}

extension MemoryDirectory {
  /// Makes the store one of version 4, which has no trees of replies and tags, and no files.
  func forgetReplies(in name: String = "store") throws {
    try plant(in: name) { source in
      for tree in [Schema.replies, Schema.tags, Schema.transfers] {
        var keys: [[UInt8]] = []
        var cursor = Cursor(source, tree)
        var isThere = try cursor.first()
        while isThere {
          var key = ByteBuffer()
          cursor.appendKey(to: &key)
          // No walk finds names again; a store of version 4 has none, nor messages with them.
          let isName = if case .name = TagKey.parts(key.bytes) { true } else { false }
          let isOfFile = key.bytes[0] == FileIndex.needed || key.bytes[0] == FileIndex.unneeded
          let stays = tree == Schema.tags && isName || tree == Schema.transfers && !isOfFile
          if !stays { keys.append(key.bytes.array()) }
          isThere = try cursor.next()
        }
        for key in keys { _ = try Bytes.with(key) { try BTree(source, tree).remove($0) } }
      }
      for ordinal in [WorkRecord.enteringOrdinal, WorkRecord.enteringFilesOrdinal] {
        let work = WorkRecord.key(ordinal)
        _ = try BTree(source, Schema.work).remove(work.bytes)
      }
      var version = ByteBuffer()
      version.append(littleEndian: UInt64(4))
      _ = try Bytes.with(Array("schema version".utf8)) { key in
        try BTree(source, Schema.settings).insert(key, version.bytes)
      }
    }
  }

  /// The number of bytes of keys and values in the replies tree.
  func replyByteCount() throws -> Int {
    var options = DatabaseOptions()
    options.access = .readOnly
    let database = try Database(in: self, name: "store", options: options)
    defer { withExtendedLifetime(database) {} }
    let source = try database.beginRead().source
    try source.enter()
    defer { source.leave() }
    if source.root(of: Schema.replies) == .none { return 0 }
    var cursor = Cursor(source, Schema.replies)
    var count = 0
    var isThere = try cursor.first()
    while isThere {
      count += cursor.keyByteCount + cursor.valueByteCount
      isThere = try cursor.next()
    }
    return count
  }
}
