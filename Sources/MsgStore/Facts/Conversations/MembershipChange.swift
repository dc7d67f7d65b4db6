import PageFile

/// The members of a conversation, as a change sees them and merges facts about them.
///
/// Nothing is read before it is asked for. If each member has a cell, only the cells of those are
/// read about whom a fact is merged, unless there are so many facts that all of them are.
package struct MembershipChange {
  package typealias Member = ConversationMembers.Member
  /// A member before and after the change.
  package typealias Pair = (old: Member?, new: Member)

  private let view: StoreView
  private let conversation: UInt32
  private let roster: Roster?
  /// All members before the change, once they were read.
  private var all: ConversationMembers?
  private var changed: [UInt32: Pair] = [:]
  private var newTime: Int64?
  private var newCompleteAt: Int64?

  init(_ view: StoreView, _ conversation: UInt32, _ roster: Roster?) {
    self.view = view
    self.conversation = conversation
    self.roster = roster
  }

  /// The members of whom anything has changed, by ascending numbers.
  package var pairs: [Pair] {
    Array(changed.values).inOrder { UInt64($0.new.number) }
  }

  /// True if anything has changed.
  var isChanged: Bool { !changed.isEmpty || newCompleteAt != nil }

  /// Reads all members, unless they were read before.
  @inline(never)
  private mutating func loaded() throws(StoreError) -> ConversationMembers {
    if let all { return all }
    let loaded =
      try roster == nil
      ? view.conversations.inlineMembers(conversation) ?? ConversationMembers()
      : view.conversations.members(conversation)
    all = loaded
    return loaded
  }

  /// Returns what is known of a member now.
  @inline(never)
  package mutating func member(_ number: UInt32) throws(StoreError) -> Member? {
    if let pair = changed[number] { return pair.new }
    if roster != nil, case nil = all {
      return try view.conversations.member(number, of: conversation)
    }
    return try loaded()[number]
  }

  /// Returns the time of the newest complete list.
  mutating func completeAt() throws(StoreError) -> Int64? {
    if let newCompleteAt { return newCompleteAt }
    return try roster == nil ? loaded().completeAt : roster?.completeAt
  }

  /// Returns the latest time of any fact.
  package mutating func lastTime() throws(StoreError) -> Int64? {
    let old = try roster == nil ? loaded().lastTime : roster?.newestTime
    return [old, newTime, newCompleteAt].compactMap { $0 }.max()
  }

  /// Returns true if nothing is known of any member.
  mutating func isEmpty() throws(StoreError) -> Bool { try lastTime() == nil }

  /// Returns true if a member is known not to take part.
  mutating func hasLeft(_ number: UInt32) throws(StoreError) -> Bool {
    if let member = try member(number) { return !member.isActive }
    return try completeAt() != nil
  }

  /// Returns the members before the change.
  mutating func old() throws(StoreError) -> ConversationMembers { try loaded() }

  /// Returns all members as they are now.
  package mutating func members() throws(StoreError) -> ConversationMembers {
    try loaded().replacing(pairs.map(\.new), completeAt: completeAt())
  }

  // MARK: Merging

  @inline(never)
  package mutating func merge(_ fact: Member) throws(StoreError) {
    let known = try member(fact.number)
    var new = known ?? fact
    if known != nil {
      new.merge(fact)
    } else if let time = try completeAt() {
      // Nobody else took part at that time.
      new.merge(Member(fact.number, time: time, isActive: false))
    }
    guard new != known else { return }
    newTime = max(newTime ?? new.time, new.time)
    changed[fact.number] = (changed[fact.number].map(\.old) ?? known, new)
  }

  /// Merges facts about some members.
  @inline(never)
  package mutating func merge(_ facts: [Member]) throws(StoreError) {
    // Above this count a walk over all cells costs less than a lookup for each fact.
    if facts.count > 1000 { _ = try loaded() }
    for fact in facts { try merge(fact) }
  }

  /// Merges a complete list: nobody else took part at the given time.
  ///
  /// The facts about the members on the list must be merged first.
  mutating func mergeComplete(_ list: Set<UInt32>, time: Int64) throws(StoreError) {
    for member in try members().members where !list.contains(member.number) {
      try merge(Member(member.number, time: time, isActive: false))
    }
    try noteComplete(at: time)
  }

  private mutating func noteComplete(at time: Int64) throws(StoreError) {
    if let known = try completeAt(), known >= time { return }
    newCompleteAt = time
  }

  /// Merges all facts of another conversation.
  @inline(never)
  package mutating func merge(_ other: ConversationMembers) throws(StoreError) {
    if let time = other.completeAt {
      let theirs = Set(other.members.map(\.number))
      for member in try members().members where !theirs.contains(member.number) {
        try merge(Member(member.number, time: time, isActive: false))
      }
    }
    try merge(other.members)
    if let time = other.completeAt { try noteComplete(at: time) }
  }
}
