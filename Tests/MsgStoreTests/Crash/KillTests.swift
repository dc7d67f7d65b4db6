import Foundation
import MsgStore
import MsgStoreTools
import Simulation
import Testing
import crash_writer

/// Processes that are killed outright, at random moments, in the same directory over and over.
///
/// A few rounds in a normal run, 200 in `make check`; `MSGSTORE_KILLS=100` makes as many as are given.
struct KillTests {
  private let directory: TemporaryDirectory
  private let path: String

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.url.appendingPathComponent("store").path
  }

  // MARK: Commits

  @Test func killedWriterLosesNothingThatItHasAcknowledged() throws {
    var random = SeededGenerator(seed: seeds(1)[0])
    var model = CrashModel()
    var killedAt: [String: Int] = [:]
    var stepCount = 0
    for round in 1...killCount {
      if round % 200 == 0 {
        // All of a store is looked at after each kill, so it must not grow for ever.
        for name in try directory.names where name.hasPrefix("store") {
          try FileManager.default.removeItem(at: directory.url.appendingPathComponent(name))
        }
        stepCount += model.stepCount
        model = CrashModel()
      }
      let victim = try Victim("crash-writer", ["write", path], in: directory.url)
      // What it is killed in: the n-th of these, or a moment after the n-th line for a commit.
      // The first one lives long enough to commit.
      let phases = round == 1 ? ["checkpoint"] : ["opening", "checkpoint", "suspend", "resume", ""]
      let phase = phases.randomElement(using: &random)
      let count =
        phase == "opening" ? 1 : Int.random(in: 1...(phase == "" ? 12 : 2), using: &random)
      try victim.wait { try victim.lines.count { $0.hasPrefix(phase ?? "") } >= count }
      #expect(try victim.kill(afterSeconds: .random(in: 0...0.003, using: &random)))
      let lines = try victim.lines
      let acknowledged = try expectLines(lines, after: model.stepCount)
      let last = lines.last.map { Int($0) == nil ? String($0.prefix { $0 != " " }) : "commit" }
      killedAt[last ?? "start", default: 0] += 1
      // Reading only leaves the log as it was, so that the next process recovers from this crash,
      // and may be killed while it does.
      let access: StoreOptions.Access = random.chance(75) ? .readOnly : .readWrite
      guard acknowledged != nil || FileManager.default.fileExists(atPath: path) else { continue }
      // One commit more may be there, which was about to be acknowledged.
      let range = acknowledged.map { $0...$0 + 1 } ?? model.stepCount...model.stepCount
      try expectSteps(range, &model, access, "round \(round)")
    }
    print(
      "killed writers: \(killCount), by the last thing they said "
        + "\(killedAt.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }); "
        + "\(stepCount + model.stepCount) commits")
    #expect(stepCount + model.stepCount > 0)
  }

  /// Checks what the writer said.
  ///
  /// Returns the last step whose commit it acknowledged, or with which it began; nil if it was killed
  /// before it had opened the store.
  private func expectLines(_ lines: [Substring], after count: Int) throws -> Int? {
    guard lines.count > 1 else { return nil }
    // What one opening has seen, the next one sees: no commit comes or goes in between.
    #expect(lines[1] == "begin \(count)")
    var count = count
    for line in lines[2...] {
      if let number = Int(line) {
        try #require(number == count + 1)
        count = number
      } else if line.hasPrefix("resumed") {
        try #require(line == "resumed \(count)")
      }
    }
    return count
  }

  /// Opens the store; everything up to some step of `range` must be there, and nothing else.
  private func expectSteps(
    _ range: ClosedRange<Int>, _ model: inout CrashModel, _ access: StoreOptions.Access,
    _ round: Comment
  ) throws {
    let store = try MessageStore(
      path: path,
      options: StoreOptions(
        localMember: access == .readOnly ? nil : CrashStep.localMember, access: access))
    let number = try CrashStep.lastNumber(in: store)
    try #require(range.contains(number), round)
    model.advance(to: number)
    try #require(try model.difference(from: store) == nil, round)
    try #require(try store.check() == [], round)
    try store.close()
  }

  // MARK: Restore

  // A debug build restores a fifth as fast.
  private static let messageCount = Scale.count(debug: 5_000, release: 40_000)

  @Test func killedRestoreLeavesABeginningOfItsFile() throws {
    var random = SeededGenerator(seed: seeds(1)[0])
    let file = RestoredFile(messageCount: Self.messageCount)
    try file.text.write(
      to: directory.url.appendingPathComponent("chat.jsonl"), atomically: false, encoding: .utf8)
    let begin = ContinuousClock.now
    #expect(try directory.run("restore", "chat.jsonl", "whole").status == 0)
    let duration = ContinuousClock.now - begin
    var counts: [Int] = []
    for round in 1...killCount {
      let victim = try Victim("msgdump", ["restore", "chat.jsonl", "store"], in: directory.url)
      try victim.wait { try directory.names.contains { $0.hasPrefix("store.restoring") } }
      // Early moments more often than late ones: they take less time to look at.
      let share = Double.random(in: 0...1, using: &random)
      let wasKilled = try victim.kill(afterSeconds: duration / .seconds(1) * share * share)
      let isThere = FileManager.default.fileExists(atPath: path)
      // A restore that came to its end has given the store its name; it may be killed after that.
      #expect(wasKilled || isThere, "round \(round)")
      let found = isThere ? path : path + ".restoring"
      if FileManager.default.fileExists(atPath: found) {
        counts.append(try file.expectBeginning(in: found, "round \(round)"))
        if isThere { #expect(counts.last == Self.messageCount) }
      }
      for name in try directory.names where name.hasPrefix("store") {
        try FileManager.default.removeItem(at: directory.url.appendingPathComponent(name))
      }
    }
    print("killed restores: \(killCount), messages found: \(counts.sorted())")
  }
}

/// A file of messages, and what a store made of its beginning must hold.
private struct RestoredFile {
  private static let conversationCount = 17

  let text: String
  private let threads: [[(id: MessageID, text: String, index: Int)]]

  init(messageCount: Int) {
    var text = ""
    var threads = [[(id: MessageID, text: String, index: Int)]](
      repeating: [], count: Self.conversationCount)
    for index in 0..<messageCount {
      // Runs of one conversation, as a real export has, and changes between them.
      let conversation = (index / 3 + index % 2) % Self.conversationCount
      let words = "message \(index) " + String(repeating: "word ", count: index % 23)
      text += #"{"conversation":"c-\#(conversation)","id":"m-\#(index)","#
      text += #""sender":"s-\#(index % 9)","#
      text += #""text":"\#(words)","timestamp_ms":\#(1_700_000_000_000 + index)}"# + "\n"
      threads[conversation].append((MessageID("m-\(index)"), words, index))
    }
    self.text = text
    self.threads = threads
  }

  /// Opens a store that must hold the first lines and nothing else, and returns how many they are.
  func expectBeginning(in path: String, _ round: Comment) throws -> Int {
    let store = try MessageStore(path: path)
    try #require(try store.check() == [], round)
    var count = 0
    var found: [[Message]] = []
    try store.read { snapshot in
      found = try (0..<Self.conversationCount).map {
        try snapshot.thread(ConversationID("c-\($0)")).allMessages()
      }
      count = found.reduce(0) { $0 + $1.count }
      let conversations = try snapshot.conversations(count: Self.conversationCount + 1)
      try #require(conversations.reduce(0) { $0 + $1.messageCount } == count, round)
    }
    for (messages, thread) in zip(found, threads) {
      let expected = thread.prefix { $0.index < count }
      let isSame = messages.elementsEqual(expected) { $0.id == $1.id && $0.text == $1.text }
      try #require(isSame, round)
    }
    try store.close()
    return count
  }
}
