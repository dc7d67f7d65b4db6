package import MsgStore

/// What the owner of the tests of long calls does in its numbered rounds, the same for the same number.
///
/// Each round brings one conversation and deletes the fifth-last, so that nearly every page is another
/// one a few rounds later while the store stays as large as it is.
package enum BusyRound {
  /// How many conversations there are at any moment.
  package static let keptCount = 5
  /// The messages of each.
  package static let messageCount = 300
  /// The key of a sync position that is the number of the last round.
  private static let syncKey = "round"

  /// Does a round, as a part of one commit.
  package static func run(_ round: Int, _ writer: borrowing StoreWriter) throws {
    for number in 1...messageCount { try writer.insert(message(number, round)) }
    if round > keptCount {
      let old = round - keptCount
      try writer.receiveConversationDeletion(room(old), at: time(messageCount, old))
    }
    try writer.setSyncPosition(Array("\(round)".utf8), for: syncKey)
  }

  /// The number of the last round that a moment of a store holds.
  package static func last(in snapshot: borrowing StoreSnapshot) throws -> Int {
    let bytes = try snapshot.syncPosition(for: syncKey) ?? []
    return Int(String(decoding: bytes, as: UTF8.self)) ?? 0
  }

  /// What a moment has that its last round did not leave, in words; nil when there is nothing.
  ///
  /// Reads every message.
  package static func problem(in snapshot: borrowing StoreSnapshot) throws -> String? {
    let last = try last(in: snapshot)
    guard last > 0 else { return nil }
    for round in max(1, last - keptCount)...last {
      let expected = round + keptCount <= last ? 0 : messageCount
      let stated = try snapshot.conversation(room(round))?.messageCount ?? 0
      guard stated == expected else {
        return "round \(last): \(room(round)) says \(stated) messages"
      }
      var number = 0
      var slice = try snapshot.thread(room(round)).at(Timestamp(microseconds: .min), count: 50)
      while true {
        for message in slice {
          number += 1
          guard message.id == id(number, round), message.text == text(number, round) else {
            return "round \(last): \(room(round)) has another message at \(number)"
          }
        }
        guard let position = slice.newer.next else { break }
        slice = try snapshot.thread(room(round)).after(position, count: 50)
      }
      guard number == expected else { return "round \(last): \(room(round)) shows \(number)" }
    }
    return nil
  }

  private static func room(_ round: Int) -> ConversationID { ConversationID("round-\(round)") }
  private static func id(_ number: Int, _ round: Int) -> MessageID {
    MessageID("m-\(round)-\(number)")
  }
  private static func time(_ number: Int, _ round: Int) -> Timestamp {
    Timestamp(milliseconds: 1_700_000_000_000 + Int64(round * 1000 + number))
  }

  /// Some 600 bytes that no compression makes short, so that a page has few messages.
  private static func text(_ number: Int, _ round: Int) -> String {
    var state = UInt64(round &* 1000 &+ number)
    var text = "round \(round)"
    for _ in 0..<46 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      text += String(state ^ state >> 31, radix: 36)
    }
    return text
  }

  private static func message(_ number: Int, _ round: Int) -> Message {
    Message(
      id: id(number, round), in: room(round), from: "you", text: text(number, round),
      serverTimestamp: time(number, round), sequence: Int64(number))
  }
}
