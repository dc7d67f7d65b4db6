package import PageFile

/// The trees of a message store.
///
/// See docs/message-format.md, S-1 … S-11.
///
///     tree  name                key → value
///        0  settings            "schema version", "local member" → their numbers
///                               0xFF, number, copy, piece → bytes of a dictionary
///        1  names               names and numbers of conversations and members, conversations by
///                               their participants, see `NameKey`
///        2  conversations       number → summary
///                               number, 0x01 … 0x09 → details, draft, members, own fields,
///                               receipts, sequences
///        3  activity            section (1), time (8), number → nothing; listed backwards
///        4  expiry              time of expiry, number of the conversation, phase, time →
///                               number of messages of this time that expire then
///                               0x00 → the border of the messages let go
///        5  directory           number of the member → its profile
///        6  messages            number of the conversation, position → message, or a segment
///        7  ids                 number of the conversation, id bytes → place
///        8  retention           number of the conversation or 0 → rule, end of the pruned part
///        9  facts               number of the conversation, id, kind, … → a fact about a message
///       10  beside              number of the conversation, position → message that has changed
///                               since it was packed
///       11  index               number of the conversation or 0, kind, … → what leads to records
///                               by their contents, see `IndexKind`
///       12  client              number of the conversation or 0, key → the client's own bytes
///       13  work                ordinal (8) → work to be done in steps
///                               0x01 … 0x07, … → the outbox
///
/// Numbers are four bytes, big-endian in keys and little-endian in values. Conversations and
/// members are numbered from 1 in the order in which they came. A number is never given twice.
package enum Schema {
  /// The version that this library writes, and the only one that it reads.
  ///
  /// Earlier versions were never released.
  package static let version: UInt64 = 6

  /// The keys of the settings tree.
  package static let versionName = "schema version"
  /// A copy of the word, for a salvage without the words.
  package static let localMemberName = "local member"

  // Computed: a constant of another module's type is made at its first use, and each use asks.
  package static var settings: TreeNumber { TreeNumber(0) }
  package static var names: TreeNumber { TreeNumber(1) }
  package static var conversations: TreeNumber { TreeNumber(2) }
  package static var activity: TreeNumber { TreeNumber(3) }
  package static var expiry: TreeNumber { TreeNumber(4) }
  package static var directory: TreeNumber { TreeNumber(5) }
  package static var messages: TreeNumber { TreeNumber(6) }
  package static var ids: TreeNumber { TreeNumber(7) }
  package static var retention: TreeNumber { TreeNumber(8) }
  package static var facts: TreeNumber { TreeNumber(9) }
  package static var beside: TreeNumber { TreeNumber(10) }
  package static var index: TreeNumber { TreeNumber(11) }
  package static var client: TreeNumber { TreeNumber(12) }
  package static var work: TreeNumber { TreeNumber(13) }

  static let treeNames = [
    "settings", "names", "conversations", "activity", "expiry", "directory", "messages", "ids",
    "retention", "facts", "beside", "index", "client", "work",
  ]

  package static func name(of tree: TreeNumber) -> String {
    treeNames.indices.contains(tree.rawValue) ? treeNames[tree.rawValue] : "\(tree.rawValue)"
  }
}

extension PageSource {
  /// Returns the schema version; nil in a file that is not a message store.
  ///
  /// Must be called between `enter` and `leave`.
  package func schemaVersion() throws(StoreError) -> UInt64? {
    let key = KeyEncoding.key(Schema.versionName)
    var value = ByteBuffer()
    let isThere = try storage { () throws(PageFileError) in
      try BTree(self, Schema.settings).value(of: key.bytes, appendTo: &value)
    }
    return isThere && value.count == 8 ? value.bytes.uint64(at: 0) : nil
  }

  /// Stores a setting.
  ///
  /// Must be called between `enter` and `leave`.
  func setSetting(_ name: String, to number: UInt64) throws(StoreError) {
    let key = KeyEncoding.key(name)
    var value = ByteBuffer()
    value.append(littleEndian: number)
    _ = try storage { () throws(PageFileError) in
      try BTree(self, Schema.settings).insert(key.bytes, value.bytes)
    }
  }
}
