import PageFile

/// The present and former members of a conversation, with a register for each.
///
/// See docs/message-format.md, C-11 … C-13.
///
/// Few members are one value, this record. Many have a cell each, see `MembershipRecord`; then a
/// value of this type is read from all of them.
///
///  1. Of two facts about a member the later counts; at equal times, the one that says that the
///     member has left. The latest known time of joining stays, whatever else is known.
///  2. A complete list is a fact about everybody: anyone not on it had left at its time. Its time
///     is therefore kept, for members about whom something older is learned afterwards.
package struct ConversationMembers: Equatable, StoredRecord {
  package static let table = Table(Schema.conversations, "members", keys: 5, mark: keySuffix)
  /// The byte behind the conversation's number in the key.
  package static let keySuffix: UInt8 = 3

  /// The latest known fact about one member.
  package struct Member: Equatable {
    package internal(set) var number: UInt32
    package var time: Int64
    package internal(set) var isActive: Bool
    package internal(set) var joinedAt: Int64?

    package init(_ number: UInt32, time: Int64, isActive: Bool, joinedAt: Int64? = nil) {
      self.number = number
      self.time = time
      self.isActive = isActive
      self.joinedAt = joinedAt
    }

    /// Merges another fact about the same member by rule 1.
    @inline(never)
    package mutating func merge(_ other: Member) {
      if other.time > time || other.time == time && !other.isActive {
        time = other.time
        isActive = other.isActive
      }
      joinedAt = [joinedAt, other.joinedAt].compactMap { $0 }.max()
    }

    /// Returns true if this member stands before another in the order of C-10; nil if only their
    /// names tell.
    func precedes(_ other: Member) -> Bool? {
      let (joined, otherJoined) = (joinedAt ?? .min, other.joinedAt ?? .min)
      if joined != otherJoined { return joined < otherJoined }
      return time == other.time ? nil : time < other.time
    }
  }

  /// The members, in ascending order of numbers.
  package private(set) var members: [Member] = []
  package private(set) var completeAt: Int64?

  package init() {}

  package var isEmpty: Bool { members.isEmpty && completeAt == nil }

  /// The numbers of the active members, ascending.
  package var active: [UInt32] { members.filter(\.isActive).map(\.number) }

  /// The latest time of any fact.
  var lastTime: Int64? { [members.map(\.time).max(), completeAt].compactMap { $0 }.max() }

  package subscript(number: UInt32) -> Member? {
    let index = index(of: number)
    return index < members.count && members[index].number == number ? members[index] : nil
  }

  /// Returns true if a member took part when a message of the given time was sent, and still does.
  package func isActive(_ number: UInt32, since time: Int64) -> Bool {
    guard let member = self[number], member.isActive else { return false }
    return member.joinedAt.map { $0 <= time } ?? true
  }

  /// Returns true if a member is known not to take part.
  func hasLeft(_ number: UInt32) -> Bool {
    self[number].map { !$0.isActive } ?? (completeAt != nil)
  }

  package mutating func merge(_ fact: Member) {
    let index = index(of: fact.number)
    if index < members.count, members[index].number == fact.number {
      members[index].merge(fact)
    } else {
      var fact = fact
      // Rule 2.
      if let completeAt { fact.merge(Member(fact.number, time: completeAt, isActive: false)) }
      members.insert(fact, at: index)
    }
  }

  /// Merges a complete list: nobody else took part at the given time.
  ///
  /// The facts about the members on the list must be merged first.
  package mutating func mergeComplete(_ list: Set<UInt32>, time: Int64) {
    completeAt = max(completeAt ?? time, time)
    for index in members.indices where !list.contains(members[index].number) {
      members[index].merge(Member(members[index].number, time: time, isActive: false))
    }
  }

  /// Merges all facts of another record.
  package mutating func merge(_ other: ConversationMembers) {
    let theirs = Set(other.members.map(\.number))
    if let time = other.completeAt {
      for index in members.indices where !theirs.contains(members[index].number) {
        members[index].merge(Member(members[index].number, time: time, isActive: false))
      }
    }
    for member in other.members { merge(member) }
    completeAt = [completeAt, other.completeAt].compactMap { $0 }.max()
  }

  private func index(of number: UInt32) -> Int {
    var low = 0
    var high = members.count
    while low < high {
      let middle = (low + high) / 2
      if members[middle].number < number { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Creates the members that have cells of their own, given in ascending order of numbers.
  init(cells members: [Member], completeAt: Int64?) {
    self.members = members
    self.completeAt = completeAt
  }

  /// Returns these members with some that have changed, given in ascending order of numbers.
  func replacing(_ changed: [Member], completeAt: Int64?) -> ConversationMembers {
    var all: [Member] = []
    all.reserveCapacity(members.count + changed.count)
    var rest = members[...]
    for member in changed {
      while let next = rest.first, next.number < member.number { all.append(rest.removeFirst()) }
      if rest.first?.number == member.number { rest.removeFirst() }
      all.append(member)
    }
    return ConversationMembers(cells: all + rest, completeAt: completeAt)
  }

  /// Returns the digest under which a conversation whose members are in one value is found by its
  /// participants: FNV-1a of its sorted participants.
  ///
  /// Other conversations may have the same digest, so a match must be compared. See S-9.
  package static func digest(_ participants: [UInt32]) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for number in participants.sorted() {
      for shift in stride(from: UInt32(0), to: 32, by: 8) {
        hash = (hash ^ UInt64(number >> shift & 0xFF)) &* 0x100_0000_01B3
      }
    }
    return hash
  }

  @inline(never)
  static func key(_ conversation: UInt32) -> ByteBuffer {
    KeyEncoding.key(conversation).appending(keySuffix)
  }
}

extension ConversationMembers {
  package mutating func visit(_ fields: inout (some FieldVisitor & ~Copyable)) {
    fields.tag(1)
    fields.flags(.byte)
    fields.optional(1, &completeAt, or: 0) { $0.fixed(&$1, "time of the newest complete list") }
    var count = members.count
    fields.varint(&count, "number of members")
    var last = Member(0, time: 0, isActive: false)
    var isFirst = true
    fields.elements(
      &members, of: last, count: count, "the members, by ascending numbers"
    ) { fields, member in
      var step = member.number &- last.number
      fields.varint(&step, "number, minus that of the previous member")
      let (number, isTooLarge) = last.number.addingReportingOverflow(step)
      fields.require((step > 0 || isFirst) && !isTooLarge)
      var bits: UInt8 = (member.isActive ? 1 : 0) | (member.joinedAt == nil ? 0 : 2)
      fields.fixed(&bits, "bits: 1 takes part, 2 with the time of joining")
      fields.require(bits <= 3)
      var timeStep = member.time &- last.time
      fields.signedVarint(&timeStep, "time of the fact, minus that of the previous member")
      var joinedStep = (member.joinedAt ?? 0) &- member.time
      member = Member(number, time: last.time &+ timeStep, isActive: bits & 1 != 0)
      if bits & 2 != 0 {
        fields.signedVarint(&joinedStep, "with bit 2: time of joining, minus the time of the fact")
        member.joinedAt = member.time &+ joinedStep
      }
      (last, isFirst) = (member, false)
    }
  }
}
