package import PageFile

/// The present and former members of a conversation, with a register for each.
///
/// See docs/message-format.md, C-11 … C-13.
///
///     size  field
///        1  tag: 1
///        1  flags: 1 a complete list is known
///        8  with flag 1: time of the newest complete list
///     1–10  number of members, varint
///           for each, in ascending order of numbers:
///     1–5     number, minus that of the previous member, varint
///        1    bits: 1 takes part, 2 joined at
///     1–10    time, minus that of the previous member, signed varint
///     1–10    with bit 2: joined at, minus time, signed varint
///
///  1. Of two facts about a member the later counts; at equal times, the one that says that the
///     member has left. The latest known time of joining stays, whatever else is known.
///  2. A complete list is a fact about everybody: anyone not on it had left at its time. Its time
///     is therefore kept, for members about whom something older is learned afterwards.
package struct ConversationMembers: Hashable {
  /// The byte behind the conversation's number in the key.
  package static let keySuffix: UInt8 = 3
  private static let tag: UInt8 = 1

  /// The latest known fact about one member.
  package struct Member: Hashable {
    package var number: UInt32
    package var time: Int64
    package var isActive: Bool
    package var joinedAt: Int64?

    package init(_ number: UInt32, time: Int64, isActive: Bool, joinedAt: Int64? = nil) {
      self.number = number
      self.time = time
      self.isActive = isActive
      self.joinedAt = joinedAt
    }

    /// Merges another fact about the same member by rule 1.
    mutating func merge(_ other: Member) {
      if other.time > time || other.time == time && !other.isActive {
        time = other.time
        isActive = other.isActive
      }
      joinedAt = [joinedAt, other.joinedAt].compactMap { $0 }.max()
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

  /// Returns the digest under which the participants tree has a conversation: FNV-1a of its sorted
  /// members.
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

  static func key(_ conversation: UInt32) -> ByteBuffer {
    var key = KeyEncoding.key(conversation)
    key.append(keySuffix)
    return key
  }
}

extension ConversationMembers {
  private static let isActiveBit: UInt8 = 1
  private static let joinedBit: UInt8 = 2

  /// Decodes the members.
  ///
  /// Returns nil if the bytes are not a valid record; never traps.
  package init?(_ bytes: Bytes) {
    var reader = ByteReader(bytes)
    guard reader.byte() == Self.tag, let flags = reader.byte(), flags <= 1 else { return nil }
    if flags == 1 {
      guard let time = reader.uint64() else { return nil }
      completeAt = Int64(bitPattern: time)
    }
    // Each member takes at least three bytes.
    guard let count = reader.varint(), count <= UInt64(reader.remainingByteCount / 3) else {
      return nil
    }
    members.reserveCapacity(Int(count))
    var number: UInt64 = 0
    var time: Int64 = 0
    for _ in 0..<count {
      guard let step = reader.varint(), step > 0 || members.isEmpty, step <= UInt64(UInt32.max),
        let bits = reader.byte(), bits <= 3, let timeStep = reader.signedVarint()
      else { return nil }
      number += step
      time &+= timeStep
      guard number <= UInt64(UInt32.max) else { return nil }
      var member = Member(
        UInt32(number), time: time, isActive: bits & Self.isActiveBit != 0)
      if bits & Self.joinedBit != 0 {
        guard let step = reader.signedVarint() else { return nil }
        member.joinedAt = time &+ step
      }
      members.append(member)
    }
    guard reader.isAtEnd else { return nil }
  }

  /// Appends the members.
  package func append(to buffer: inout ByteBuffer) {
    buffer.append(Self.tag)
    buffer.append(completeAt == nil ? 0 : 1)
    if let completeAt { buffer.append(time: completeAt) }
    buffer.append(varint: UInt64(members.count))
    var number: UInt32 = 0
    var time: Int64 = 0
    for member in members {
      buffer.append(varint: UInt64(member.number - number))
      buffer.append(
        (member.isActive ? Self.isActiveBit : 0) | (member.joinedAt == nil ? 0 : Self.joinedBit))
      buffer.append(signedVarint: member.time &- time)
      if let joinedAt = member.joinedAt { buffer.append(signedVarint: joinedAt &- member.time) }
      number = member.number
      time = member.time
    }
  }
}
