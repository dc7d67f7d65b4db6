/// What one or several commits have changed.
///
/// It says where to look, not what is there now: whoever was told reads what it needs, and may find
/// what has come since as well. What says nothing about a thing says that it is as it was.
public struct StoreChanges: Sendable, Hashable {
  /// Of so many conversations at most it is told what has become of each.
  public static let conversationCountMax = 256

  /// What has become of conversations, by their names of now; and by a former one what it was renamed
  /// to, see `ConversationChanges.newID`.
  public private(set) var conversations: [ConversationID: ConversationChanges] = [:]
  /// Whether `unreadTotals` may be different.
  public internal(set) var hasCounterChanges = false
  /// Whether what waits to go to the server may be different.
  public internal(set) var hasOutboxChanges = false
  /// Whether anything may be different: too many conversations have changed, or the store was resumed,
  /// and another process may have written to it meanwhile.
  ///
  /// Then `conversations` says nothing.
  public private(set) var isAnything = false

  package init() {}

  /// Anything may be different.
  static let anything: StoreChanges = {
    var changes = StoreChanges()
    changes.setAnything()
    return changes
  }()

  var isEmpty: Bool {
    !isAnything && conversations.isEmpty && !hasCounterChanges && !hasOutboxChanges
  }

  mutating func setAnything() {
    conversations = [:]
    (isAnything, hasCounterChanges, hasOutboxChanges) = (true, true, true)
  }

  /// Adds what was changed in one conversation.
  mutating func add(_ changes: ConversationChanges, of id: ConversationID) {
    if isAnything || changes.isEmpty { return }
    conversations[id, default: ConversationChanges()].add(changes)
    if conversations[id]?.isEmpty ?? false { conversations[id] = nil }
    if conversations.count > Self.conversationCountMax { setAnything() }
  }

  /// Notes under a former name of a conversation what it is called now.
  mutating func addName(_ newID: ConversationID, for id: ConversationID, isMerged: Bool) {
    if isAnything { return }
    var former = ConversationChanges()
    former.newID = newID
    if !isMerged, let entry = conversations[newID]?.entry {
      // One entry under two names: it went with the one and came with the other.
      former.addEntry(from: entry.from, to: nil)
      conversations[newID]?.beginEntry()
    }
    add(former, of: id)
  }

  /// Adds what was changed next, so that both together are told as one.
  mutating func add(_ later: StoreChanges) {
    if isAnything { return }
    if later.isAnything { return setAnything() }
    if later.hasCounterChanges { hasCounterChanges = true }
    if later.hasOutboxChanges { hasOutboxChanges = true }
    for (id, changes) in later.conversations { add(changes, of: id) }
    // Who was told of a name that has changed again is led to the last one.
    for (id, changes) in later.conversations {
      guard let newID = changes.newID else { continue }
      for (former, changes) in conversations where changes.newID == id {
        conversations[former]?.newID = former == newID ? nil : newID
      }
    }
  }
}
