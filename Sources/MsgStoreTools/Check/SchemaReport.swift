import MsgStore
import PageFile

/// The names of the trees and readable forms of their keys, for tools that show pages.
package enum SchemaReport {
  /// Returns the name of a tree.
  package static func treeName(_ number: Int) -> String { Schema.name(of: TreeNumber(number)) }

  /// Returns the name of a word.
  package static func wordName(_ index: Int) -> String {
    StoreWord(rawValue: index).map { "\($0)" } ?? "\(index)"
  }

  /// Returns a readable form of a key; accepts any bytes.
  package static func describeKey(_ key: [UInt8], tree: Int) -> String {
    Bytes.with(key) { bytes in
      let tree = TreeNumber(tree)
      return describe(bytes, tree) ?? beginning(bytes, tree) ?? hexadecimal(key)
    }
  }

  /// Returns the readable start of a key that was shortened to tell two pages apart.
  private static func beginning(_ key: Bytes, _ tree: TreeNumber) -> String? {
    guard Schema.treesByConversation.contains(tree), let number = key.bigEndianNumber(at: 0)
    else { return nil }
    let rest = key.dropFirst(4)
    return rest.count == 0 ? "\(number)" : "\(number) \(hexadecimal(rest.array()))…"
  }

  private static func describe(_ key: Bytes, _ tree: TreeNumber) -> String? {
    switch tree {
    case Schema.settings: return key.isValidUTF8 ? quoted(key) : nil
    case Schema.names: return name(key)
    case Schema.directory where MemberFields.member(key) != nil:
      return MemberFields.member(key).map { "\($0) own fields" }
    case Schema.directory, Schema.retention:
      return key.count == 4 ? key.bigEndianNumber(at: 0).map { "\($0)" } : nil
    case Schema.conversations:
      return conversation(key)
    case Schema.activity:
      guard let (place, number) = ListPlace.parts(key) else { return nil }
      return "\(place.section) \(place.time) µs, \(number)"
    case Schema.ids:
      guard key.count > 4, let number = key.bigEndianNumber(at: 0) else { return nil }
      return "\(number) \(quoted(key.dropFirst(4)))"
    case Schema.messages, Schema.beside:
      return message(key)
    case Schema.facts:
      guard let (number, id, kind, rest) = FactKey.parts(key) else { return nil }
      let suffix = rest.count == 0 ? "" : " \(hexadecimal(rest.array()))"
      return "\(number) \"\(id)\" \(kind)\(suffix)"
    case Schema.index:
      return index(key)
    case Schema.expiry:
      guard let entry = ExpiryKey(key) else { return key.count == 1 ? "reached" : nil }
      let subject = entry.moment.map { "\($0)" } ?? "mute"
      return "\(entry.time) \(entry.conversation) \(subject)"
    case Schema.client:
      guard let (number, name) = ClientKey.parts(key) else { return nil }
      return number == ClientKey.store ? "store \(quoted(name))" : "\(number) \(quoted(name))"
    case Schema.work:
      return OutboxKey.describe(key) ?? (key.count == 8 ? "work \(key.bigEndian64(at: 0))" : nil)
    default:
      return nil
    }
  }

  private static func tag(_ key: Bytes) -> String? {
    switch TagKey.parts(key) {
    case .count(let conversation, let tag): "\(conversation), tag \(tag)"
    case .entry(let conversation, let tag, let moment): "\(conversation), tag \(tag), \(moment)"
    case .everywhere(let tag, let time, let conversation):
      "all, tag \(tag), \(time) µs, \(conversation)"
    case .name(let tag): "name of tag \(tag)"
    case nil: nil
    }
  }

  private static func index(_ key: Bytes) -> String? {
    switch key.indexKind {
    case .tag: return tag(key)
    case .reply:
      guard let (number, _, moment) = ReplyKey.parts(key) else { return nil }
      return "\(number), replies to \(hexadecimal(key.slice(5, 4).array())), \(moment)"
    case .waiting:
      return WaitingKey.parts(key).map { "waiting \($0.ordinal), \($0.conversation) \"\($0.id)\"" }
    case .moving: return attachment(key, "moving")
    case .hashed: return attachment(key, "hashed")
    case .neededFile: return attachment(key, "file")
    case .unneededFile: return "unneeded file \(hexadecimal(key.indexRest.array()))"
    case .pendingReceipts:
      return PendingKey.parts(key).map { "\($0.kind) to be told of \($0.conversation)" }
    case .member: return MemberKey.number(key).map { "member \($0)" }
    case nil: return nil
    }
  }

  private static func attachment(_ key: Bytes, _ what: String) -> String? {
    guard let fact = TransferIndex.fact(key), let (number, id, _, rest) = FactKey.parts(fact) else {
      return nil
    }
    return "\(what) \(number) \"\(id)\" \(quoted(rest))"
  }

  private static func name(_ key: Bytes) -> String? {
    guard let (kind, rest) = NameKey.parts(key) else { return nil }
    switch kind {
    case .conversation: return rest.isValidUTF8 ? "conversation \(quoted(rest))" : nil
    case .member: return rest.isValidUTF8 ? "member \(quoted(rest))" : nil
    case .participants:
      return ParticipantsKey.parts(key).map {
        "participants \(hexadecimal(rest.slice(0, 8).array())), \($0.conversation)"
      }
    }
  }

  private static func conversation(_ key: Bytes) -> String? {
    guard let number = key.bigEndianNumber(at: 0) else { return nil }
    if key.count == KeyEncoding.numberByteCount { return "\(number) summary" }
    switch ReceiptKey.parts(key) {
    case .member(_, let member): return "\(number) receipts of member \(member)"
    case .own: return "\(number) own receipts"
    case .exact(_, let kind, let id, let ordinal):
      return "\(number) \(kind) \"\(id)\" from \(ordinal) on"
    case nil: break
    }
    switch (key[4], key.count) {
    case (ConversationDetails.keySuffix, 5): return "\(number) details"
    case (DraftRecord.keySuffix, 5): return "\(number) draft"
    case (ConversationMembers.keySuffix, 5): return "\(number) members"
    case (ConversationFields.keySuffix, 5): return "\(number) own fields"
    case (KnownSequences.keySuffix, KnownSequences.keyByteCount):
      return "\(number) sequences from \(KeyEncoding.unflipped(key.bigEndian64(at: 5)))"
    default: return MembershipRecord.parts(key).map { "\(number) member \($0.member)" }
    }
  }

  private static func message(_ key: Bytes) -> String? {
    guard let number = key.bigEndianNumber(at: 0) else { return nil }
    guard let (place, byteCount) = key.place(at: 4) else { return separator(key, number) }
    let id = quoted(key.dropFirst(4 + byteCount))
    if place.isPending { return "\(number) pending \(place.time) µs, order \(place.rank) \(id)" }
    let sequence = place.sequence.map { "sequence \($0)" } ?? "no sequence"
    return "\(number) \(place.time) µs, \(sequence) \(id)"
  }

  /// Returns a readable form of a branch page's key, which has just enough bytes to tell two pages
  /// apart.
  ///
  /// Missing bytes read as zeros: the earliest time that the key may stand for.
  private static func separator(_ key: Bytes, _ number: UInt32) -> String? {
    guard key.count < 4 + 18 else { return nil }
    let padded = key.array() + [UInt8](repeating: 0, count: max(0, 4 + 9 - key.count))
    return Bytes.with(padded) { bytes in
      let time = "\(KeyEncoding.unflipped(bytes.bigEndian64(at: 5))) µs"
      return switch (key.count, bytes[4]) {
      case (4, _): "\(number)"
      case (5, Place.Phase.acknowledged.rawValue): "\(number) acknowledged"
      case (5, Place.Phase.pending.rawValue): "\(number) pending"
      case (_, Place.Phase.acknowledged.rawValue): "\(number) \(time)"
      case (_, Place.Phase.pending.rawValue): "\(number) pending \(time)"
      default: nil
      }
    }
  }

  private static func quoted(_ bytes: Bytes) -> String { "\"\(bytes.repairedText())\"" }

  private static func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
