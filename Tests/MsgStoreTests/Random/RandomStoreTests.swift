import Foundation
import MsgStore
import PageFile
import Simulation
import Testing

/// Whatever is done to a store, in whatever order, it stays sound.
///
/// What fails is made small and printed. `MSGSTORE_STORES=n` makes n stores of each kind, in a
/// release build some hundred a second.
struct RandomStoreTests {
  /// Names that meet often, threads of some length, and long ones.
  @Test(arguments: [8, 30, 60])
  func everythingThatIsDoneLeavesASoundStore(_ idCount: Int) throws {
    for seed in seeds(storeCount(idCount > 30 ? 1 : Scale.count(debug: 1, release: 3))) {
      expectSound(seed, idCount)
    }
  }

  /// The same where little waits, and long work goes on in many steps among the rest.
  @Test(arguments: [8, 30, 60])
  func everythingThatIsDoneBetweenTheStepsOfWorkLeavesASoundStore(_ idCount: Int) throws {
    for seed in seeds(storeCount(idCount > 30 ? 1 : Scale.count(debug: 1, release: 3))) {
      expectSound(seed, idCount, isNarrow: true)
    }
  }

  /// A clock that is a year ahead or behind makes no other store, but for the times that it gave.
  @Test func theClockDecidesNothing() throws {
    for seed in seeds(storeCount(Scale.count(debug: 1, release: 2))) {
      var random = RandomStore(seed: seed, packing: .random(seed), idCount: 8)
      random.expiresLater = true
      random.expectSound(stepCount: 200) { made in
        var pictures: [[String]] = []
        for years in [0, 1, -1] as [Int64] {
          var made = made
          made.clockOffset = years * 365 * 86_400_000_000
          let store = try made.play()
          pictures.append(try store.pictureWithoutClock())
          try store.close()
        }
        for picture in pictures where picture != pictures[0] {
          return "\(picture.difference(from: pictures[0]))"
        }
        return nil
      }
    }
  }

  private func storeCount(_ usual: Int) -> Int {
    let text = ProcessInfo.processInfo.environment["MSGSTORE_STORES"]
    return text.flatMap { Int($0) } ?? usual
  }

  private func expectSound(_ seed: UInt64, _ idCount: Int, isNarrow: Bool = false) {
    let random = RandomStore(
      seed: seed, packing: .random(seed), idCount: idCount, isNarrow: isNarrow)
    random.expectSound(stepCount: 400) { made in
      let store = try made.play()
      defer { try? store.close() }
      return try store.defect()
    }
  }
}

extension MessageStore {
  /// What the store says, but for the times that this device's clock gave, and the order of messages
  /// that the server has not placed.
  fileprivate func pictureWithoutClock() throws -> [String] {
    try read { chat in
      var lines: [String] = []
      let rooms =
        Array(try chat.conversations(count: 1000))
        + Array(try chat.archivedConversations(count: 1000))
      for room in rooms.sorted(by: { $0.id < $1.id }) {
        lines.append(
          "\(room.id) \(room.kind) \(room.title ?? "-") \(room.avatar ?? "-") \(room.participants)"
            + " \(room.isPinned) \(room.isMuted) \(room.isArchived) \(room.isMarkedUnread) \(room.messageCount)"
            + " \(room.unreadCount) \(room.deletedUpTo.map { "\($0.microseconds)" } ?? "-")"
            + " \(try chat.draft(of: room.id)?.text ?? "-")")
        lines += try chat.participations(in: room.id).map { "\($0)" }
        for message in try chat.thread(room.id).tail(10_000).sorted(by: { $0.id < $1.id }) {
          lines.append(
            "\(message.id) \(message.text) \(message.status) \(message.isRetracted)"
              + " \(message.editedAt.map { "\($0.microseconds)" } ?? "-")"
              + " \(message.reactions.map { "\($0.emoji) \($0.member) \($0.time.microseconds)" })"
              + " \(message.serverTimestamp.map { "\($0.microseconds)" } ?? "-")")
        }
      }
      for entry in try chat.outbox.entries(count: 10_000).entries {
        lines.append("\(entry.conversation?.string ?? "-") \(entry.line)")
      }
      return lines
    }
  }
}
