import MsgStore
import Testing

/// Names that are made here: their form, their order, and that none comes twice.
// Serialised: UUIDs rise within a millisecond as long as nobody makes one for another in between.
@Suite(.serialized) struct MessageIDMakingTests {
  private let moment = Timestamp(milliseconds: 0x0123_4567_89AB)

  @Test func aUUIDHasItsTimeVersionAndVariant() {
    var random = SeededGenerator(seed: 7)
    for _ in 0..<1000 {
      let text = MessageID.timeOrderedUUID(at: moment, using: &random).string
      let parts = text.split(separator: "-")
      #expect(parts.map { $0.count } == [8, 4, 4, 4, 12])
      #expect(text.hasPrefix("01234567-89ab-7"))
      #expect(["8", "9", "a", "b"].contains(parts[3].first))
      #expect(text.allSatisfy { $0 == "-" || ("0"..."9").contains($0) || ("a"..."f").contains($0) })
    }
  }

  @Test func theSameGeneratorMakesTheSameNames() {
    var one = SeededGenerator(seed: 7)
    var other = SeededGenerator(seed: 7)
    #expect(
      MessageID.timeOrderedUUID(at: moment, using: &one)
        == MessageID.timeOrderedUUID(at: moment, using: &other))
    #expect(
      MessageID.pushID(at: moment, using: &one) == MessageID.pushID(at: moment, using: &other))
    #expect(
      MessageID.pushID(at: moment, using: &one) != MessageID.pushID(at: moment, using: &one))
  }

  @Test func aPushIDBeginsWithItsTime() {
    var random = SeededGenerator(seed: 7)
    let id = MessageID.pushID(at: Timestamp(milliseconds: 1_424_295_030_150), using: &random)
    #expect(id.byteCount == 20 && id.string.hasPrefix("-JiTaLq5"))
  }

  @Test(arguments: seeds(2)) func namesSortByTime(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let times = (0..<2000).map { _ in
      Timestamp(milliseconds: Int64.random(in: 0..<1 << 48, using: &random))
    }
    .sorted()
    let uuids = times.map { MessageID.timeOrderedUUID(at: $0, using: &random) }
    let pushIDs = times.map { MessageID.pushID(at: $0, using: &random) }
    #expect(uuids == uuids.sorted() && pushIDs == pushIDs.sorted())
  }

  @Test func timesWithoutRoomAreTheNearestThatHaveIt() {
    #expect(MessageID.timeOrderedUUID(at: time(.min)).string.hasPrefix("00000000-0000-7"))
    #expect(MessageID.timeOrderedUUID(at: time(.max)).string.hasPrefix("ffffffff-ffff-7"))
    #expect(MessageID.pushID(at: time(-1)).string.hasPrefix("--------"))
  }

  @Test func namesOfOneMillisecondRise() {
    let uuids = (0..<20_000).map { _ in MessageID.timeOrderedUUID(at: moment) }
    #expect(zip(uuids, uuids.dropFirst()).allSatisfy { $0 < $1 })
  }

  @Test func idsForTheCurrentTimeAscendWhateverIsMadeInBetween() {
    var last = (MessageID.random(), MessageID.timeOrderedUUID())
    for index in 0..<20_000 {
      _ = MessageID.pushID(at: time(Int64(index)))
      _ = MessageID.timeOrderedUUID(at: time(Int64(index)))
      let next = (MessageID.random(), MessageID.timeOrderedUUID())
      #expect(last.0 < next.0 && last.1 < next.1)
      last = next
    }
  }

  @Test func hundredThousandNamesAreDifferent() {
    let now = StoreOptions.systemClock()
    #expect(Set((0..<100_000).map { _ in MessageID.pushID(at: now) }).count == 100_000)
    #expect(Set((0..<100_000).map { _ in MessageID.timeOrderedUUID(at: now) }).count == 100_000)
    #expect(Set((0..<1000).map { _ in ConversationID.random() }).count == 1000)
    #expect(ConversationID.random().byteCount == 20)
  }
}
