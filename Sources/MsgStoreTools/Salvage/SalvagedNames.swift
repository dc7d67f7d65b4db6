import MsgStore
import PageFile
import PageFileSalvage

/// The names of members and conversations in a damaged store, by number.
///
/// Each name stands in two trees: one leads from the name to the number, the other one back. If the
/// way back is lost, all names are walked once. A name that is in neither gets a substitute that
/// says so.
final class SalvagedNames {
  private let source: PageSalvage
  private var members: [UInt32: MemberID] = [:]
  private var memberNames: [UInt32: String]?
  private var conversationNames: [UInt32: String]?
  /// The numbers of members with a substitute name.
  private(set) var nameless: Set<UInt32> = []
  private static let maximumMemberCount = 65_536

  init(_ source: PageSalvage) { self.source = source }

  /// Returns the name of a member, or nil if it is lost.
  func knownMember(_ number: UInt32) -> MemberID? {
    if let known = members[number] { return known }
    guard let name = storedMember(number) ?? orphanedMembers()[number] else { return nil }
    if members.count >= Self.maximumMemberCount { members.removeAll() }
    members[number] = MemberID(name)
    return MemberID(name)
  }

  /// Returns the name of a member, or a substitute.
  func member(_ number: UInt32) -> MemberID {
    if let known = knownMember(number) { return known }
    nameless.insert(number)
    let substitute = MemberID(unused("member \(number) (name lost)", NameKey.member))
    members[number] = substitute
    return substitute
  }

  /// Returns the tag of a number that was set.
  ///
  /// Names of the client's own that are lost get a substitute.
  func tag(_ number: UInt8) -> MessageTag? {
    if let fixed = MessageTag.settable.first(where: { $0.fixedNumber == number }) { return fixed }
    guard TagSet(number: number).isSubset(of: .own) else { return nil }
    let key = TagKey.name(number)
    var value = ByteBuffer()
    guard case .found = source.value(of: key.bytes, in: Schema.index, to: &value),
      let name = TagKey.ownName(value.bytes)
    else { return .own("tag \(number) (name lost)") }
    return .own(name)
  }

  /// Returns the name of a conversation without details, or a substitute.
  func conversation(_ number: UInt32) -> (id: ConversationID, isKnown: Bool) {
    if let name = orphanedConversations()[number] { return (ConversationID(name), true) }
    let name = unused("conversation \(number) (name lost)", NameKey.conversation)
    return (ConversationID(name), false)
  }

  /// Returns the conversations that have a name but no details, by number.
  func orphanedConversations() -> [UInt32: String] {
    if let known = conversationNames { return known }
    let names = orphans(.conversation) { number in
      let key = ConversationDetails.key(number)
      var value = ByteBuffer()
      guard case .found = source.value(of: key.bytes, in: Schema.conversations, to: &value) else {
        return false
      }
      return ConversationDetails(value.bytes) != nil
    }
    conversationNames = names
    return names
  }

  private func orphanedMembers() -> [UInt32: String] {
    if let known = memberNames { return known }
    let names = orphans(.member) { number in storedMember(number) != nil }
    memberNames = names
    return names
  }

  /// Returns the names of a kind whose way back is lost.
  private func orphans(
    _ kind: NameKey.Kind, hasWayBack: (UInt32) -> Bool
  ) -> [UInt32: String] {
    var names: [UInt32: String] = [:]
    let cursor = source.cursor(Schema.names)
    let prefix = NameKey.prefix(kind)
    cursor.seek(prefix.bytes)
    while cursor.next(), cursor.key.hasPrefix(prefix.bytes) {
      guard let entry = ConversationName(cursor.value),
        let name = cursor.key.dropFirst(1).identifier
      else { continue }
      // The current name if it is left, instead of a former one.
      if !hasWayBack(entry.number), !entry.isFormer || names[entry.number] == nil {
        names[entry.number] = name
      }
    }
    return names
  }

  private func storedMember(_ number: UInt32) -> String? {
    let key = MemberKey.key(number)
    var value = ByteBuffer()
    guard case .found = source.value(of: key.bytes, in: Schema.index, to: &value) else {
      return nil
    }
    return value.bytes.identifier
  }

  /// Returns a name that is not in use.
  private func unused(_ name: String, _ key: (String) -> ByteBuffer) -> String {
    var name = name
    while true {
      let key = key(name)
      var value = ByteBuffer()
      guard case .found = source.value(of: key.bytes, in: Schema.names, to: &value) else {
        return name
      }
      name += "*"
    }
  }
}

extension Bytes {
  /// The identifier that the bytes encode, or nil if they are not a valid one.
  fileprivate var identifier: String? {
    (1...Identifier.maximumByteCount).contains(count) && isValidUTF8 ? repairedText() : nil
  }
}

extension PageSalvage {
  func cursor(_ tree: TreeNumber) -> SalvageCursor { cursor(tree.rawValue) }

  func value(of key: Bytes, in tree: TreeNumber, to buffer: inout ByteBuffer) -> Lookup {
    value(of: key, in: tree.rawValue, to: &buffer)
  }

  /// Returns the value of a setting, and whether it is lost.
  func setting(_ name: String) -> (value: UInt64?, isLost: Bool) {
    let key = KeyEncoding.key(name)
    var value = ByteBuffer()
    switch self.value(of: key.bytes, in: Schema.settings, to: &value) {
    case .found: return (value.count == 8 ? value.bytes.uint64(at: 0) : nil, value.count != 8)
    case .absent: return (nil, false)
    case .unknown: return (nil, true)
    }
  }

  /// Returns a word; nil if it is lost.
  func word(_ word: StoreWord) -> UInt64? { self.word(word.rawValue) }
}
