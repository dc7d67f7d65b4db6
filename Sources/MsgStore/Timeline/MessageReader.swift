import PageFile

struct MessageReader {
  let view: StoreView

  init(_ view: StoreView) { self.view = view }

  /// A message that is here, by any of its names, and its own name.
  func found(
    _ id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> (position: Position, message: StoredMessage, own: MessageID)? {
    guard let position = try view.ids.position(of: id, in: conversation) else { return nil }
    let message = try message(at: position, in: conversation)
    return (position, message, message.id(at: position))
  }

  /// The position of the last message in a conversation before a position, or at it; nil where there
  /// is none.
  func lastPosition(
    upTo limit: Position, in conversation: UInt32
  ) throws(StoreError) -> Position? {
    var cursor = MessageCursor(view)
    let key = KeyEncoding.key(conversation, limit)
    if try !cursor.seek(key.bytes) {
      guard try cursor.previous(), cursor.isIn(key.bytes.slice(0, KeyEncoding.numberByteCount))
      else { return nil }
    }
    return try cursor.position()
  }

  /// The position in the key of the message that a cursor stands at.
  func position(_ cursor: borrowing Cursor) throws(StoreError) -> Position {
    var key = ByteBuffer()
    cursor.appendKey(to: &key, dropping: KeyEncoding.numberByteCount)
    guard let position = key.bytes.position else {
      throw view.corrupt(Schema.messages, "a key is no position")
    }
    return position
  }
}

extension StoreView {
  var messages: MessageReader { MessageReader(self) }
}
