/// A member who must have a message before all have it.
///
/// This is the only place that knows about membership.
package struct Recipient: Equatable {
  package let number: UInt32
  /// The time of joining, or nil if the member has taken part from the start.
  let joined: Int64?

  init(number: UInt32, joined: Int64?) {
    self.number = number
    self.joined = joined
  }

  init(_ member: ConversationMembers.Member) {
    self.init(number: member.number, joined: member.joinedAt)
  }

  /// Returns true if the member took part when a message was sent.
  package func wasIn(at position: MessagePosition) -> Bool {
    joined.map { $0 <= position.place.time } ?? true
  }

  /// Returns the mark that the member counts as having reached.
  ///
  /// Everything before joining is covered.
  @inline(never)
  func reached(_ mark: MessagePosition?) -> MessagePosition? {
    if StoreDefect.joiningIgnored.isPlanted { return mark }
    return latest(mark, joined.map { MessagePosition(.acknowledged($0, sequence: .min), "") })
  }
}

extension Recipient {
  /// Returns the time at which the first of the members joined; nil if one of them has always been
  /// there.
  package static func firstJoined(_ recipients: [Recipient]) -> Int64? {
    recipients.allSatisfy { $0.joined != nil } ? recipients.compactMap(\.joined).min() : nil
  }
}

/// The members who must have a message, as they are stored.
package enum Recipients {
  /// Members that were read from one value, by ascending numbers.
  case listed([Recipient])
  /// The participants that have cells, but for one member.
  case cells(without: UInt32?)
}

/// A walk along recipients in order of their numbers.
struct RecipientWalk: ~Copyable {
  private let end: UInt32?
  private let without: UInt32?
  private var rest: ArraySlice<Recipient> = []
  private var cells: MemberWalk?
  /// The recipient at which the walk is; nil at the end.
  private(set) var recipient: Recipient?

  /// Begins with the first recipient from a number on, and ends before another number, if given.
  @inline(never)
  init(
    _ view: StoreView, _ recipients: Recipients, of conversation: UInt32, from start: UInt32,
    before end: UInt32?
  ) throws(StoreError) {
    self.end = end
    switch recipients {
    case .listed(let recipients):
      without = nil
      rest = recipients[recipients.index(from: start)...]
    case .cells(let member):
      without = member
      cells = try MemberWalk(view, conversation, from: start)
    }
    try step()
  }

  @inline(never)
  mutating func step() throws(StoreError) {
    if let next = rest.popFirst() { recipient = next } else { recipient = try nextOfCells() }
    if let number = recipient?.number, let end, number >= end { recipient = nil }
  }

  private mutating func nextOfCells() throws(StoreError) -> Recipient? {
    while let member = try cells?.next() {
      if member.isActive, member.number != without { return Recipient(member) }
    }
    return nil
  }
}

extension [Recipient] {
  /// Returns the index of the first member whose number is at least `number`.
  fileprivate func index(from number: UInt32) -> Int {
    var lower = 0
    var upper = count
    while lower < upper {
      let middle = (lower + upper) / 2
      if self[middle].number < number { lower = middle + 1 } else { upper = middle }
    }
    return lower
  }
}

extension ConversationMembers {
  /// Returns the active members except one, in order of their numbers.
  @inline(never)
  package func recipients(without member: UInt32?) -> [Recipient] {
    members.filter { $0.isActive && $0.number != member }
      .map(Recipient.init)
  }
}
