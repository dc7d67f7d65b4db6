package import PageFile

/// The part of a tree's keys under which records of one type lie.
package struct Table: Sendable {
  package let tree: TreeNumber
  /// The name of a record in errors.
  let name: StaticString
  /// The byte count of a key; nil if it varies.
  private let keyByteCount: Int?
  /// The byte that tells the keys from those of the other tables of the tree: the first one in the
  /// work tree, elsewhere the one behind the number of the conversation.
  private let mark: UInt8?

  init(_ tree: TreeNumber, _ name: StaticString, keys keyByteCount: Int? = nil, mark: UInt8? = nil)
  {
    self.tree = tree
    self.name = name
    self.keyByteCount = keyByteCount
    self.mark = mark
  }

  fileprivate func hasKey(_ key: Bytes, in tree: TreeNumber) -> Bool {
    guard tree == self.tree, key.count == keyByteCount else { return false }
    return mark.map { key[tree == Schema.work ? 0 : KeyEncoding.numberByteCount] == $0 } ?? true
  }
}

/// A record that lies in a table.
package protocol StoredRecord: FieldRecord {
  static var table: Table { get }
}

extension Schema {
  /// The records whose table has keys of one byte count.
  private static var records: [any StoredRecord.Type] {
    [
      ConversationSummary.self, ConversationDetails.self, ConversationMembers.self,
      MembershipRecord.self, DraftRecord.self, WorkRecord.self, OutboxRecord.self,
      OutboxLane.self, OutboxRelease.self, ProfileRecord.self,
      RetentionRecord.self, ConversationFields.self, MemberFields.self,
      ConversationReceipts.self, ReceiptRecord.self,
    ]
  }

  /// Returns true if the bytes are a record under a key of its table.
  package static func canReadRecord(_ key: Bytes, _ value: Bytes, in tree: TreeNumber) -> Bool {
    records.contains { $0.table.hasKey(key, in: tree) && $0.init(value) != nil }
  }

  /// Returns the type of the record under a key, if its table has keys of one byte count.
  package static func recordType(_ key: Bytes, in tree: TreeNumber) -> (any StoredRecord.Type)? {
    records.first { $0.table.hasKey(key, in: tree) }
  }
}

extension StoreView {
  /// Returns the record under a key of its table, or nil without such a key.
  @inline(never)
  package func record<Record: StoredRecord>(
    _ key: borrowing ByteBuffer
  ) throws(StoreError) -> Record? {
    try record(key, in: Record.table.tree, Record.table.name)
  }

  /// Returns the record under a key, or nil without such a key.
  @inline(never)
  func record<Record: FieldRecord>(
    _ key: borrowing ByteBuffer, in tree: TreeNumber, _ name: StaticString
  ) throws(StoreError) -> Record? {
    var value = ByteBuffer(capacity: 128)
    guard try self.value(of: key.bytes, in: tree, appendTo: &value) else { return nil }
    return try decoded(value.bytes, at: key.bytes, in: tree, name)
  }

  /// Decodes a record of a table.
  @inline(never)
  package func decoded<Record: StoredRecord>(
    _ value: Bytes, at key: Bytes
  ) throws(StoreError) -> Record {
    try decoded(value, at: key, in: Record.table.tree, Record.table.name)
  }

  @inline(never)
  func decoded<Record: FieldRecord>(
    _ value: Bytes, at key: Bytes, in tree: TreeNumber, _ name: StaticString
  ) throws(StoreError) -> Record {
    guard let record = Record(value) else {
      throw corrupt(tree, "\(name): malformed record (key \(key.array()))")
    }
    return record
  }
}
