import Damage
import MsgStore
import MsgStoreTools
import PageFile
import Simulation
import Testing

/// Flipped bits under a store of messages: no answer differs from what was asked of the whole store, and no
/// message is missing in silence.
struct FlippedAnswersTests {
  /// Everything a store answers.
  private struct Answers: Hashable {
    var conversations: [Conversation] = []
    var threads: [[Message]] = []
    var messages: [Message?] = []
  }

  private static let rooms: [ConversationID] = ["family", "work", "ann"]
  private static let messageCount = 150

  private static func id(_ number: Int) -> MessageID { MessageID("m-\(number)") }

  /// Asks for everything at once, in both directions, and for each message by its name.
  private static func answers(of store: MessageStore) throws -> Answers {
    try store.read { snapshot in
      var answers = Answers()
      answers.conversations = Array(try snapshot.conversations(count: 100))
      for room in rooms {
        let thread = try snapshot.thread(room)
        answers.threads.append(Array(try thread.tail(messageCount)))
        answers.threads.append(Array(try thread.at(time(5_000_000), count: 20)))
        for number in 0..<messageCount {
          answers.messages.append(try snapshot.message(id(number), in: room))
        }
      }
      return answers
    }
  }

  /// A store with threads of old, packed and of new messages, pending ones, marks and deletions, as a
  /// killed owner leaves it; nothing of the log is without a witness.
  private static func make(closed: Bool) throws -> (Specimen, Answers) {
    let directory = MemoryDirectory()
    let store = try memoryStore(directory)
    for start in stride(from: 0, to: messageCount, by: 30) {
      try store.write { writer in
        for number in start..<start + 30 {
          try writer.insert(
            Message(
              id: id(number), in: rooms[number % 5 % 3], from: number % 4 == 0 ? "me" : "you",
              text: "message \(number) \(String(repeating: "and so on ", count: number % 7))",
              serverTimestamp: time(Int64(1_000_000 + number * 60_000)),
              sequence: Int64(number)))
        }
      }
    }
    try store.checkpoint()
    try store.write { try $0.markRead("work") }
    try store.write { writer in
      try writer.insert(
        Message(id: "pending", in: "ann", from: "me", text: "on its way", localTime: time(9)))
      _ = try writer.delete(id(7), in: rooms[7 % 5 % 3])
    }
    try store.write { writer in
      _ = try writer.acknowledge(
        "pending", in: "ann", serverTimestamp: time(99_000_000), sequence: 1000)
    }
    let answers = try answers(of: store)
    if closed { try store.close() }
    let specimen = Specimen(closed ? "closed" : "in use", directory.copy(), [])
    return (specimen, answers)
  }

  @Test(arguments: [true, false]) func noAnswerDiffersAndNoMessageIsMissing(closed: Bool) throws {
    let (specimen, expected) = try Self.make(closed: closed)
    let phase = Int(seeds(1)[0])
    var flipCount = 0
    var reportedCount = 0
    var silent: [Anatomy.Structure: Int] = [:]
    let count = Scale.count(debug: 4, release: 10)
    Flips(specimen).forEach(maximumCount: count, phase: phase) { files, flip in
      flipCount += 1
      for access in [StoreOptions.Access.readOnly, .readWrite] {
        let copy = files.copy()
        do {
          var options = StoreOptions(localMember: "me", access: access)
          options.clock = { time(1_000_000) }
          let store = try MessageStore(in: copy, name: Specimen.storeName, options: options)
          let findings = try store.check()
          let isRight = try Self.answers(of: store) == expected
          #expect(isRight, "phase \(phase): \(flip)")
          if findings.isEmpty && access == .readOnly {
            silent[flip.part.structure, default: 0] += 1
          }
        } catch StoreError.storage(let error) {
          #expect(Judge.tellsOfDamage(error), "phase \(phase): \(flip): \(error)")
          if access == .readOnly { reportedCount += 1 }
        } catch {
          Issue.record("phase \(phase): \(flip): \(error)")
        }
      }
    }
    print("\(specimen.name): \(flipCount) flips, \(reportedCount) reported, silent: \(silent)")
    #expect(reportedCount > flipCount / 4)
    for structure in [.metaSlot, .tablePage, .branch, .leaf, .overflow] as [Anatomy.Structure] {
      #expect(silent[structure] == nil, "\(structure)")
    }
    if !closed { #expect(silent[.commitHeader] == nil && silent[.frames] == nil) }
  }
}
