import MsgStore
import Testing

/// Names that were looked up take a share of the cache's budget and no more.
struct KnownNamesTests {
  private func member(_ number: UInt32) -> MemberID {
    MemberID("a member of some length \(number)")
  }

  @Test func sharesFollowTheCache() {
    let usual = MemoryShares(cacheByteCount: 16 << 20)
    #expect(usual.memberNames == 1 << 20 && usual.nameNumbers == 1 << 20)
    #expect(MemoryShares(cacheByteCount: 6 << 20).recipients == 384 << 10)
    #expect(MemoryShares(cacheByteCount: 0).memberNames == 64 << 10)
  }

  @Test func namesStopAtTheirShare() {
    let names = MemberNames(maximumByteCount: 50_000)
    for number in 0..<20_000 as Range<UInt32> { names.insert(member(number), at: number) }
    #expect(names.isFull && (50_000..<55_000).contains(names.byteCount))
    let known = (0..<20_000 as Range<UInt32>).filter { names[$0] != nil }
    #expect(known.count > 200 && known.allSatisfy { names[$0] == member($0) })
    // What is known already takes nothing.
    let before = names.byteCount
    names.insert(member(0), at: 0)
    #expect(names.byteCount == before)
  }

  @Test func fullNamesAreGivenUpAndTheirReadersKeepThem() {
    var shares = MemoryShares()
    shares.memberNames = 20_000
    var known = KnownNames(MemberNames(maximumByteCount: shares.memberNames), shares)
    let first = known.names(in: 0)
    var number: UInt32 = 0
    while !first.isFull {
      first.insert(member(number), at: number)
      #expect(known.names(in: 0) === first || first.isFull)
      number += 1
    }
    let second = known.names(in: 0)
    #expect(second !== first && second.byteCount == 0 && second[0] == nil)
    #expect(first[0] == member(0) && first[number - 1] == member(number - 1))
    second.insert(member(7), at: 7)
    #expect(known.names(in: 0) === second && second[7] == member(7))
  }

  @Test func numbersStayWithinTheirShare() {
    var numbers = NameNumbers(maximumByteCount: 40_000)
    for number in 0..<5000 as Range<UInt32> {
      numbers.insert(member(number), number)
      numbers.insert(ConversationID("a conversation of some length \(number)"), number)
      #expect(numbers.byteCount <= 40_000)
      #expect(numbers[member(number)] == number)
    }
  }

  /// A store whose names do not fit reads and writes the same.
  @Test func aStoreWithMoreNamesThanItMayKnow() throws {
    var options = countedOptions()
    options.cacheByteCount = 0
    let files = try closedStore(options) { store in
      for round in 0..<3 {
        try store.write { chat in
          for index in 0..<1500 {
            try chat.insert(
              Message(
                id: MessageID("m\(round) \(index)"), in: ConversationID("room \(index % 700)"),
                from: member(UInt32(index)), text: "text",
                serverTimestamp: time(Int64(round * 10_000 + index))))
          }
        }
      }
      try store.expectSound()
    }
    let store = try MessageStore(in: files, name: "store", options: options)
    for _ in 0..<2 {
      for room in 0..<700 {
        let senders = try store.read { chat in
          try chat.thread(ConversationID("room \(room)")).tail(100).map(\.sender)
        }
        let expected = (0..<3).flatMap { _ in
          stride(from: room, to: 1500, by: 700).map { member(UInt32($0)) }
        }
        #expect(senders == expected)
      }
    }
  }
}
