package import MsgStore
import PageFile

/// The cells that hold a message, as they are in the file.
package struct MessageCells: Sendable {
  /// A cell of a tree.
  package struct Cell: Sendable {
    package var tree: Int
    package var key: [UInt8]
    package var value: [UInt8]
  }

  /// The cell with the message's record, or with the segment that contains it.
  package var cell: Cell
  /// The message's record: the cell's value, or the form that it has outside a segment.
  package var record: [UInt8]
  /// True if the cell is a segment.
  package var isInSegment: Bool
  /// The entry of its name, and the facts about it.
  package var others: [Cell]
}

extension StoreSnapshot {
  /// Returns the cells that hold a message, or nil if it is not there.
  package func cells(
    of id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> MessageCells? {
    try within { (view) throws(StoreError) in
      guard let number = try view.number(of: conversation),
        let position = try view.ids.position(of: id, in: number)
      else { return nil }
      let key = KeyEncoding.key(number, position)
      var messages = MessageCursor(view)
      guard try messages.seek(key.bytes) else {
        throw view.corrupt(Schema.ids, "message \"\(id)\": missing at its place")
      }
      var record = ByteBuffer()
      try messages.appendRecord(to: &record)
      // A segment lies under the key of its first message.
      var cursor = Cursor(view.source, Schema.messages)
      try storage { () throws(PageFileError) in _ = try cursor.seekBack(key.bytes) }
      let cell = try view.cell(cursor, in: Schema.messages)
      var others: [MessageCells.Cell] = []
      let names = KeyEncoding.key(number).appending(id)
      try view.appendCells(with: names, in: Schema.ids, to: &others, isExact: true)
      let facts = FactKey.prefix(number, messageName(position, id))
      try view.appendCells(with: facts, in: Schema.facts, to: &others)
      return MessageCells(
        cell: cell, record: record.bytes.array(),
        isInSegment: cell.key != key.bytes.array() || Bytes.with(cell.value, Segment.isSegment),
        others: others)
    }
  }

  /// Returns the name under which facts about a message lie.
  private func messageName(_ position: MessagePosition, _ id: MessageID) -> MessageID {
    position.id.byteCount > 0 ? position.id : id
  }
}

extension StoreView {
  fileprivate func cell(
    _ cursor: borrowing Cursor, in tree: TreeNumber
  ) throws(StoreError) -> MessageCells.Cell {
    guard cursor.isAtCell else { throw corrupt(tree, "cell is missing") }
    var key = ByteBuffer()
    var value = ByteBuffer()
    cursor.appendKey(to: &key)
    try append(cursor, to: &value)
    return MessageCells.Cell(
      tree: tree.rawValue, key: key.bytes.array(), value: value.bytes.array())
  }

  /// Appends the cells whose keys have a prefix, or are equal to it.
  fileprivate func appendCells(
    with prefix: borrowing ByteBuffer, in tree: TreeNumber, to cells: inout [MessageCells.Cell],
    isExact: Bool = false
  ) throws(StoreError) {
    var cursor = Cursor(source, tree)
    try storage { () throws(PageFileError) in _ = try cursor.seek(prefix.bytes) }
    while cursor.isAtCell, cursor.keyHasPrefix(prefix.bytes) {
      if isExact, cursor.keyByteCount != prefix.count { return }
      cells.append(try cell(cursor, in: tree))
      try storage { () throws(PageFileError) in _ = try cursor.next() }
    }
  }
}
