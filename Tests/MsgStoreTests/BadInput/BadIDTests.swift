import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// Reading a slice refuses ids that are not UTF-8, whether a message has one or answers one; a check
/// once saw neither, and called stores fine that could not be read.
struct BadIDTests {
  @Test(arguments: [true, false])
  func aCheckFindsIDsThatAreNoText(isReply: Bool) throws {
    let directory = MemoryDirectory()
    let store = try memoryStore(directory)
    try store.write { chat in
      try chat.insert(
        Message(id: "m-1", in: "room", from: "you", text: "hi", serverTimestamp: time(1)))
    }
    try store.close()
    let database = try Database(in: directory, name: "store")
    let transaction = try database.beginWrite()
    try replaceMessage(transaction.source, isReply)
    _ = try transaction.commit(.full)
    try database.close()

    let damaged = try memoryStore(directory)
    #expect(throws: StoreError.self) {
      _ = try damaged.read { try $0.thread("room").tail(10).count }
    }
    let findings = try damaged.check().map(\.description)
    let reason = isReply ? "malformed record or text" : "does not decode to a position"
    #expect(findings.contains { $0.hasSuffix(reason) })
  }

  /// Gives the one message an id, or a reply, of a byte that begins no character.
  private func replaceMessage(_ source: PageSource, _ isReply: Bool) throws {
    try source.enter()
    defer { source.leave() }
    var cursor = Cursor(source, TreeNumber(6))
    try #require(try cursor.first())
    var key = ByteBuffer()
    cursor.appendKey(to: &key)
    var value = ByteBuffer()
    try cursor.appendValue(to: &value)
    var record = try #require(MessageRecord(value.bytes))
    let messages = BTree(source, TreeNumber(6))
    _ = try messages.remove(key.bytes)
    var reply = ByteBuffer()
    reply.append(UInt8(0xFF))
    if isReply {
      record.flags.insert(.reply)
      record.replyBytes = reply.bytes
    } else {
      key.mutableBytes[key.count - 1] = 0xFF
    }
    var changed = ByteBuffer()
    record.append(to: &changed)
    _ = try messages.insert(key.bytes, changed.bytes)
  }
}
