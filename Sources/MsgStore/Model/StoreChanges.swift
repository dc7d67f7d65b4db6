/// The changes made by one or more commits.
///
/// Changes say where to look, not what is there now: a listener reads what it needs and may also
/// find later changes. Anything not mentioned is unchanged.
public struct StoreChanges: Sendable, Equatable {
  /// The most conversations whose changes are listed one by one.
  public static let maximumConversationCount = 256
  /// The most members whose profiles are listed one by one.
  public static let maximumProfileCount = 256

  /// The changes of conversations by their current ids.
  ///
  /// A former id leads to the new one; see `ConversationChanges.newID`.
  public private(set) var conversations: [ConversationID: ConversationChanges] = [:]
  /// The members whose profiles have changed; empty if ``coversAllProfiles``.
  ///
  /// Conversations and messages that come with them are not told as changed.
  public private(set) var profiles: Set<MemberID> = []
  /// True if any profile may have changed, because too many have.
  public private(set) var coversAllProfiles = false
  /// True if `unreadTotals` may have changed.
  public internal(set) var hasCounterChanges = false
  /// True if the outbox may have changed.
  public internal(set) var hasOutboxChanges = false
  /// True if `unneededFiles(count:after:)` may have changed.
  public internal(set) var hasUnneededFileChanges = false
  /// True if something of the store as a whole may have changed: a sync position, the rule for the
  /// history that is kept, the number of facts that wait for their messages, the next time at which
  /// a message expires, or, while a removed conversation is swept, the number of messages with a
  /// tag.
  public internal(set) var hasSettingChanges = false
  /// True if anything may have changed: too many conversations changed, or the store was resumed
  /// and another process may have written to it meanwhile.
  ///
  /// `conversations` is then empty and says nothing.
  public private(set) var coversEverything = false

  package init() {}

  /// Creates changes, for tests of a listener.
  ///
  /// - Parameters:
  ///   - conversations: The changes of conversations by their current ids; more than
  ///     `maximumConversationCount` cover everything.
  ///   - hasCounterChanges: True if `unreadTotals` may have changed.
  ///   - hasOutboxChanges: True if the outbox may have changed.
  ///   - profiles: The members whose profiles have changed; more than `maximumProfileCount` cover
  ///     all profiles.
  ///   - hasUnneededFileChanges: True if `unneededFiles(count:after:)` may have changed.
  ///   - hasSettingChanges: True if something of the store as a whole may have changed.
  public init(
    conversations: [ConversationID: ConversationChanges], hasCounterChanges: Bool = false,
    hasOutboxChanges: Bool = false, profiles: Set<MemberID> = [],
    hasUnneededFileChanges: Bool = false, hasSettingChanges: Bool = false
  ) {
    self.hasSettingChanges = hasSettingChanges
    addProfiles(profiles)
    self.hasCounterChanges = hasCounterChanges
    self.hasOutboxChanges = hasOutboxChanges
    self.hasUnneededFileChanges = hasUnneededFileChanges
    for (id, changes) in conversations { add(changes, of: id) }
  }

  /// Changes that may affect anything.
  public static let anything: StoreChanges = {
    var changes = StoreChanges()
    changes.setAnything()
    return changes
  }()

  var isEmpty: Bool {
    !coversEverything && conversations.isEmpty && !hasCounterChanges && !hasOutboxChanges
      && !hasProfileChanges && !hasUnneededFileChanges && !hasSettingChanges
  }

  /// True if a profile may have changed.
  public var hasProfileChanges: Bool { coversAllProfiles || !profiles.isEmpty }

  /// Returns true if the profile of any of these members may have changed.
  func mayConcern(_ members: some Sequence<MemberID>) -> Bool {
    coversAllProfiles || members.contains { profiles.contains($0) }
  }

  mutating func setAnything() {
    conversations = [:]
    (coversEverything, hasCounterChanges, hasOutboxChanges) = (true, true, true)
    (hasUnneededFileChanges, hasSettingChanges) = (true, true)
    setAllProfiles()
  }

  mutating func setAllProfiles() {
    profiles = []
    coversAllProfiles = true
  }

  mutating func addProfiles(_ members: Set<MemberID>) {
    if coversAllProfiles || members.isEmpty { return }
    profiles.formUnion(members)
    if profiles.count > Self.maximumProfileCount { setAllProfiles() }
  }

  /// Adds the changes of one conversation.
  mutating func add(_ changes: ConversationChanges, of id: ConversationID) {
    if coversEverything || changes.isEmpty { return }
    conversations[id, default: ConversationChanges()].add(changes)
    if conversations[id]?.isEmpty ?? false { conversations[id] = nil }
    if conversations.count > Self.maximumConversationCount { setAnything() }
  }

  /// Notes the new id of a conversation under its former one.
  mutating func addName(_ newID: ConversationID, for id: ConversationID, isMerged: Bool) {
    if coversEverything { return }
    var former = ConversationChanges()
    former.newID = newID
    if !isMerged, let entry = conversations[newID]?.entry {
      // One entry under two ids: it left with the former one and arrived with the new one.
      former.addEntry(from: entry.from, to: nil)
      conversations[newID]?.beginEntry()
    }
    add(former, of: id)
  }

  /// Adds later changes, so that both are reported as one.
  mutating func add(_ later: StoreChanges) {
    if coversEverything { return }
    if later.coversEverything { return setAnything() }
    if later.hasCounterChanges { hasCounterChanges = true }
    if later.hasOutboxChanges { hasOutboxChanges = true }
    if later.hasUnneededFileChanges { hasUnneededFileChanges = true }
    if later.hasSettingChanges { hasSettingChanges = true }
    if later.coversAllProfiles { setAllProfiles() } else { addProfiles(later.profiles) }
    for (id, changes) in later.conversations { add(changes, of: id) }
    // A listener told of an id that has changed again is led to the latest one.
    for (id, changes) in later.conversations {
      guard let newID = changes.newID else { continue }
      for (former, changes) in conversations where changes.newID == id {
        conversations[former]?.newID = former == newID ? nil : newID
      }
    }
  }
}
