import MsgStore
import PageFile

/// The names of the trees and readable forms of their keys, for tools that show pages.
package enum SchemaReport {
  /// Returns the name of a tree.
  package static func treeName(_ number: Int) -> String { Schema.name(of: TreeNumber(number)) }

  /// Returns a readable form of a key; accepts any bytes.
  package static func describeKey(_ key: [UInt8], tree: Int) -> String {
    Bytes.with(key) { bytes in
      let tree = TreeNumber(tree)
      return describe(bytes, tree) ?? beginning(bytes, tree) ?? hexadecimal(key)
    }
  }

  /// Returns the readable start of a key that was shortened to tell two pages apart.
  private static func beginning(_ key: Bytes, _ tree: TreeNumber) -> String? {
    guard tree == Schema.conversations || Schema.treesByConversation.contains(tree),
      let number = key.bigEndianNumber(at: 0)
    else { return nil }
    let rest = key.dropFirst(4)
    return rest.count == 0 ? "\(number)" : "\(number) \(hexadecimal(rest.array()))…"
  }

  private static func describe(_ key: Bytes, _ tree: TreeNumber) -> String? {
    switch tree {
    case Schema.settings, Schema.conversationNames, Schema.memberNames:
      return key.isValidUTF8 ? quoted(key) : nil
    case Schema.directory where MemberFields.member(key) != nil:
      return MemberFields.member(key).map { "\($0) own fields" }
    case Schema.members, Schema.directory, Schema.retention:
      return key.count == 4 ? key.bigEndianNumber(at: 0).map { "\($0)" } : nil
    case Schema.conversations:
      guard let number = key.bigEndianNumber(at: 0) else { return nil }
      if key.count == 4 { return "\(number) summary" }
      guard key.count == 5 else { return nil }
      return switch key[4] {
      case ConversationDetails.keySuffix: "\(number) details"
      case DraftRecord.keySuffix: "\(number) draft"
      case ConversationMembers.keySuffix: "\(number) members"
      case ConversationFields.keySuffix: "\(number) own fields"
      default: nil
      }
    case Schema.activity:
      guard let (place, number) = ListPlace.parts(key) else { return nil }
      return "\(place.section) \(place.time) µs, \(number)"
    case Schema.participants:
      guard key.count == 12, let number = key.bigEndianNumber(at: 8) else { return nil }
      return "\(hexadecimal(key.slice(0, 8).array())), \(number)"
    case Schema.ids:
      guard key.count > 4, let number = key.bigEndianNumber(at: 0) else { return nil }
      return "\(number) \(quoted(key.dropFirst(4)))"
    case Schema.messages, Schema.beside:
      return message(key)
    case Schema.receipts:
      return receipt(key)
    case Schema.facts:
      guard let (number, id, kind, rest) = FactKey.parts(key) else { return nil }
      let suffix = rest.count == 0 ? "" : " \(hexadecimal(rest.array()))"
      return "\(number) \"\(id)\" \(kind)\(suffix)"
    case Schema.tags:
      return tag(key)
    case Schema.memberships:
      return MembershipRecord.parts(key).map { "\($0.conversation), member \($0.member)" }
    case Schema.replies:
      guard let (number, _, moment) = ReplyKey.parts(key) else { return nil }
      return "\(number) \(hexadecimal(key.slice(4, 4).array())) \(moment)"
    case Schema.expiry:
      guard let entry = ExpiryKey(key) else { return key.count == 1 ? "reached" : nil }
      let subject = entry.moment.map { "\($0)" } ?? "mute"
      return "\(entry.time) \(entry.conversation) \(subject)"
    case Schema.sequences:
      guard key.count == KnownSequences.keyByteCount, let number = key.bigEndianNumber(at: 0)
      else { return nil }
      return "\(number) from \(KeyEncoding.unflipped(key.bigEndian64(at: 4)))"
    case Schema.waiting:
      return key.count == 8 ? "\(key.bigEndian64(at: 0))" : nil
    case Schema.client:
      guard let (number, name) = ClientKey.parts(key) else { return nil }
      return number == ClientKey.store ? "store \(quoted(name))" : "\(number) \(quoted(name))"
    case Schema.work:
      return OutboxKey.describe(key) ?? (key.count == 8 ? "work \(key.bigEndian64(at: 0))" : nil)
    case Schema.transfers:
      return transfer(key)
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

  private static func transfer(_ key: Bytes) -> String? {
    if key.count == 13, key[0] == FileIndex.unneeded {
      return "unneeded file \(hexadecimal(key.dropFirst(1).array()))"
    }
    let file = FileIndex.neededParts(key)
    guard let fact = file?.fact ?? TransferIndex.parts(key)?.fact,
      let (number, id, _, rest) = FactKey.parts(fact)
    else { return nil }
    let what = file != nil ? "file" : key[0] == TransferIndex.moving ? "moving" : "hashed"
    return "\(what) \(number) \"\(id)\" \(quoted(rest))"
  }

  private static func receipt(_ key: Bytes) -> String? {
    switch ReceiptKey.parts(key) {
    case .member(let conversation, let member): "\(conversation), member \(member)"
    case .own(let conversation): "\(conversation), its own"
    case .exact(let conversation, let kind, let id, let ordinal):
      "\(conversation), \(kind) \"\(id)\" from \(ordinal) on"
    case .pending(let kind, let conversation): "\(kind) to be told of \(conversation)"
    case nil: nil
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
