import MsgStore
import PageFile
import Simulation
import Testing
import TextDictionary

extension SeededGenerator {
  fileprivate mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }
}

/// What a dictionary may hold, by counting in the plainest way.
struct DictionaryBuilderTests {
  struct Message {
    var text: [UInt8]
    var sender: UInt32
    var day: Int32

    init(_ text: String, sender: UInt32, day: Int32) {
      self.text = Array(text.utf8)
      self.sender = sender
      self.day = day
    }
  }

  private func dictionary(_ messages: [Message], maximumByteCount: Int = 65_535) -> [UInt8]? {
    var builder = DictionaryBuilder()
    for message in messages {
      Bytes.with(message.text) { builder.add($0, sender: message.sender, day: message.day) }
    }
    guard let made = builder.finish(maximumByteCount: maximumByteCount) else { return nil }
    return made.bytes.array()
  }

  /// The strings of a dictionary: what lies between bytes that are in no text.
  private func strings(_ dictionary: [UInt8]) -> [ArraySlice<UInt8>] {
    dictionary.split(separator: 0xFF)
  }

  /// The rule, as it is written.
  private func isAllowed(_ piece: ArraySlice<UInt8>, _ messages: [Message]) -> Bool {
    let bytes = Array(piece)
    let holders = messages.filter { $0.text.holds(bytes) }
    let areFewSenders = Set(messages.map(\.sender)).count < 3
    let origins =
      areFewSenders ? Set(holders.map { Int64($0.day) }) : Set(holders.map { Int64($0.sender) })
    return piece.count <= 48 && holders.count >= 8 && origins.count >= 3
  }

  /// Talk out of a few hundred words, some of which are much more frequent.
  private func talk(_ random: inout SeededGenerator, count: Int, senders: Int) -> [Message] {
    let words = (0..<300).map { _ in
      String(
        decoding: (0..<random.below(9) + 2).map { _ in 97 + UInt8(random.below(26)) }, as: UTF8.self
      )
    }
    let emoji = ["🙂", "é", "Привет", "日本語", "👩‍👩‍👧"]
    return (0..<count).map { number in
      let text = (0..<random.below(14)).map { _ in
        random.below(12) == 0
          ? emoji[random.below(emoji.count)]
          : words[min(random.below(300), random.below(300), random.below(300))]
      }.joined(separator: " ")
      return Message(
        text, sender: UInt32(random.below(senders)), day: Int32(number / max(count / 9, 1)))
    }
  }

  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func everyStringKeepsTheRule(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let messages = talk(&random, count: 400, senders: [1, 2, 3, 7][Int(seed % 4)])
    let made = try #require(dictionary(messages), "seed \(seed)")
    for string in strings(made) {
      #expect(
        isAllowed(string, messages), "seed \(seed): \(String(decoding: string, as: UTF8.self))")
    }
    #expect(made.last == 0xFF && !strings(made).isEmpty)
  }

  /// What somebody wrote once, to few, or alone, however often, is in no dictionary, nor are its
  /// pieces, but for those that others wrote too.
  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func noSecretIsRemembered(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    func secret() -> String {
      String(decoding: (0..<60).map { _ in 33 + UInt8(random.below(90)) }, as: UTF8.self)
    }
    let secrets = [secret(), secret(), secret(), secret()]
    var messages = talk(&random, count: 300, senders: 6)
    messages.append(Message(secrets[0], sender: 1, day: 1))
    for number in 0..<7 {
      let around = "\(secrets[1]) and it goes on"
      messages.append(Message(around, sender: UInt32(number % 3), day: Int32(number)))
    }
    for _ in 0..<100 { messages.append(Message("so: " + secrets[2], sender: 2, day: 5)) }
    // By two only, many times, and on many days, which do not count where senders are many.
    for number in 0..<100 {
      messages.append(Message(secrets[3], sender: UInt32(number % 2), day: Int32(number)))
    }
    messages.shuffle(using: &random)
    let made = try #require(dictionary(messages))
    for secret in secrets {
      let bytes = Array(secret.utf8)
      #expect(!made.holds(bytes), "seed \(seed)")
      for start in 0...bytes.count - 49 {
        #expect(!made.holds(Array(bytes[start..<start + 49])), "seed \(seed)")
      }
      for start in 0...bytes.count - 12 {
        let piece = bytes[start..<start + 12]
        #expect(!made.holds(Array(piece)) || isAllowed(piece, messages), "seed \(seed)")
      }
    }
  }

  /// No piece of any message is in a dictionary unless the rule allows it, across neighbours too.
  @Test func neighboursDoNotJoin() throws {
    var random = SeededGenerator(seed: 77)
    let messages = talk(&random, count: 400, senders: 4)
    let made = try #require(dictionary(messages))
    for message in messages {
      for start in message.text.indices.dropLast(8) {
        let piece = message.text[start..<start + 9]
        #expect(!made.holds(Array(piece)) || isAllowed(piece, messages))
      }
    }
  }

  @Test func eightMessagesByThreeSendersAreJustEnough() throws {
    var random = SeededGenerator(seed: 5)
    // Enough beside it that there is a dictionary at all.
    let rest = talk(&random, count: 400, senders: 5)
    let phrase = "@@ THE GATE OPENS AT NINE @@"
    func isHeld(
      count: Int, senders: Int, text: (Int) -> String = { "\($0)@@ THE GATE OPENS AT NINE @@" }
    )
      throws -> Bool
    {
      let said = (0..<count).map { Message(text($0), sender: UInt32($0 % senders), day: 0) }
      return try #require(dictionary(rest + said)).holds(Array(phrase.utf8))
    }
    #expect(try isHeld(count: 8, senders: 3))
    #expect(try !isHeld(count: 7, senders: 3))
    #expect(try !isHeld(count: 30, senders: 2))
    // Four times in each of seven messages is seven messages.
    #expect(
      try !isHeld(count: 7, senders: 3) { _ in
        [phrase, phrase, phrase, phrase].joined(separator: "~")
      })
  }

  @Test func daysCountWhereSendersAreFew() throws {
    func phrases(days: Int) -> [Message] {
      (0..<40).flatMap { phrase in
        (0..<9).map { number in
          Message(
            "\(phrase): what was said here, by one of two, \(phrase)", sender: UInt32(number % 2),
            day: Int32(number % days))
        }
      }
    }
    #expect(dictionary(phrases(days: 2)) == nil)
    let made = try #require(dictionary(phrases(days: 3)))
    #expect(made.holds(Array("what was said here, by one of two".utf8)))
  }

  @Test func sameSampleSameDictionary() throws {
    var random = SeededGenerator(seed: 12)
    let messages = talk(&random, count: 500, senders: 6)
    let made = try #require(dictionary(messages))
    #expect(dictionary(messages) == made)
    for maximumByteCount in [600, 1000, 1500] {
      let smaller = try #require(dictionary(messages, maximumByteCount: maximumByteCount))
      #expect(smaller.count <= maximumByteCount && smaller.count > maximumByteCount / 2)
    }
    #expect(made.count <= 65_535)
  }

  @Test func smallSamplesMakeNone() {
    #expect(dictionary([]) == nil)
    #expect(dictionary([Message("", sender: 0, day: 0)]) == nil)
    #expect(dictionary((0..<100).map { Message("short", sender: $0, day: 0) }) == nil)
    #expect(dictionary((0..<100).map { Message("one phrase, often", sender: $0, day: 0) }) == nil)
    #expect(dictionary([Message("anything", sender: 0, day: 0)], maximumByteCount: 0) == nil)
    #expect(dictionary([Message("anything", sender: 0, day: 0)], maximumByteCount: -1) == nil)
  }

  @Test func textsThatAreNoUTF8AreLeftOut() throws {
    var random = SeededGenerator(seed: 3)
    let messages = talk(&random, count: 400, senders: 4)
    var broken = messages
    for number in 0..<20 {
      var message = Message("a broken text that many sent, ", sender: UInt32(number), day: 0)
      message.text.append(0xFF)
      broken.append(message)
    }
    #expect(dictionary(broken) == dictionary(messages))
    let zeros = (0..<20).map { number -> Message in
      var message = Message("", sender: UInt32(number), day: 0)
      message.text = [UInt8](repeating: 0, count: 100)
      return message
    }
    let made = try #require(dictionary(messages + zeros))
    #expect(strings(made).allSatisfy { $0.count <= 48 })
  }

  @Test func aFullSampleTakesNoMore() {
    var builder = DictionaryBuilder(maximumSampleByteCount: 10_000)
    let half = [UInt8](repeating: 97, count: 5000)
    Bytes.with(half) { half in
      builder.add(half, sender: 1, day: 1)
      let isHalfFull = builder.isFull
      #expect(!isHalfFull)
      builder.add(half, sender: 2, day: 2)
      let isFull = builder.isFull
      #expect(isFull)
    }
  }
}
