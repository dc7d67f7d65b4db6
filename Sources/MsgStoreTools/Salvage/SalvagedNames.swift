import MsgStore
import PageFile

/// The names of members and conversations in a damaged store, by their numbers.
///
/// Each name stands in two trees, one from the name to the number and one back. Where the way back
/// is lost the other is walked once. A name that is in neither gets a substitute that says so.
final class SalvagedNames {
  private let source: PageSalvage
  private var members: [UInt32: MemberID] = [:]
  private var memberNames: [UInt32: String]?
  private var conversationNames: [UInt32: String]?
  /// Numbers of members who got a substitute.
  private(set) var nameless: Set<UInt32> = []
  private static let memberCountMax = 65_536

  init(_ source: PageSalvage) { self.source = source }

  /// The name of a member, or nil when it is lost.
  func knownMember(_ number: UInt32) -> MemberID? {
    if let known = members[number] { return known }
    guard let name = storedMember(number) ?? orphanedMembers()[number] else { return nil }
    if members.count >= Self.memberCountMax { members.removeAll() }
    members[number] = MemberID(name)
    return MemberID(name)
  }

  /// The name of a member, or a substitute.
  func member(_ number: UInt32) -> MemberID {
    if let known = knownMember(number) { return known }
    nameless.insert(number)
    let substitute = MemberID(unused("member \(number) (name lost)", in: Schema.memberNames))
    members[number] = substitute
    return substitute
  }

  /// The name of a conversation that has no details.
  func conversation(_ number: UInt32) -> (id: ConversationID, isKnown: Bool) {
    if let name = orphanedConversations()[number] { return (ConversationID(name), true) }
    let name = unused("conversation \(number) (name lost)", in: Schema.conversationNames)
    return (ConversationID(name), false)
  }

  /// The conversations that have a name and no details, by their numbers.
  func orphanedConversations() -> [UInt32: String] {
    if let known = conversationNames { return known }
    let names = orphans(Schema.conversationNames) { number in
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
    let names = orphans(Schema.memberNames) { number in storedMember(number) != nil }
    memberNames = names
    return names
  }

  /// The names of a tree whose way back is lost.
  private func orphans(
    _ tree: TreeNumber, hasWayBack: (UInt32) -> Bool
  ) -> [UInt32: String] {
    var names: [UInt32: String] = [:]
    let cursor = source.cursor(tree)
    while cursor.next() {
      guard let entry = ConversationName(cursor.value), let name = cursor.key.identifier else {
        continue
      }
      // The name that it has now, where that is left, and not one that it had before.
      if !hasWayBack(entry.number), !entry.isFormer || names[entry.number] == nil {
        names[entry.number] = name
      }
    }
    return names
  }

  private func storedMember(_ number: UInt32) -> String? {
    let key = KeyEncoding.key(number)
    var value = ByteBuffer()
    guard case .found = source.value(of: key.bytes, in: Schema.members, to: &value) else {
      return nil
    }
    return value.bytes.identifier
  }

  /// A name that nobody else has.
  private func unused(_ name: String, in tree: TreeNumber) -> String {
    var name = name
    while true {
      let key = KeyEncoding.key(name)
      var value = ByteBuffer()
      guard case .found = source.value(of: key.bytes, in: tree, to: &value) else { return name }
      name += "*"
    }
  }
}

extension Bytes {
  /// The identifier that these bytes are, or nil when they are none.
  fileprivate var identifier: String? {
    (1...Identifier.byteCountMax).contains(count) && isValidUTF8 ? repairedText() : nil
  }
}

extension PageSalvage {
  func cursor(_ tree: TreeNumber) -> SalvageCursor { cursor(tree.rawValue) }

  func value(of key: Bytes, in tree: TreeNumber, to buffer: inout ByteBuffer) -> Lookup {
    value(of: key, in: tree.rawValue, to: &buffer)
  }

  /// A setting, if it can be read.
  func value(of setting: Setting) -> (value: UInt64?, isLost: Bool) {
    let key = KeyEncoding.key(setting.rawValue)
    var value = ByteBuffer()
    switch self.value(of: key.bytes, in: Schema.settings, to: &value) {
    case .found: return (value.count == 8 ? value.bytes.uint64(at: 0) : nil, value.count != 8)
    case .absent: return (nil, false)
    case .unknown: return (nil, true)
    }
  }
}
