import MsgStore
import PageFile
import PageFileSalvage

/// The ids tree of a damaged store, which tells where a message is or that it was deleted.
extension MessageSalvage {
  /// The answer of the ids tree for a name.
  enum Entry {
    case found(IDEntry?, LSN)
    case absent(LSN)
    case unknown
  }

  /// Looks up a name in the ids tree.
  func entry(of id: MessageID, in conversation: UInt32) -> Entry {
    let key = KeyEncoding.key(conversation, id)
    var value = ByteBuffer()
    switch source.value(of: key.bytes, in: Schema.ids, to: &value) {
    case .unknown: return .unknown
    case .absent(let lsn): return .absent(lsn)
    case .found(let lsn): return .found(IDEntry(id, value.bytes), lsn)
    }
  }
}
