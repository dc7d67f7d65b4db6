/// The proportions of a corpus, counted message by message.
package struct CorpusCount {
  package private(set) var messageCount = 0
  package private(set) var conversationCount = 0
  /// The messages in the largest conversation, as a share of all.
  package private(set) var largestShare = 0.0
  /// The shares of conversations with at most 2, 9, 19, 29 and 99 messages.
  package private(set) var sizeShares: [Double] = []
  /// The messages with the sender of the one before in their conversation, as a share of those that
  /// have one before.
  package private(set) var runShare = 0.0
  /// The messages with the time of the one before, as such a share.
  package private(set) var equalTimeShare = 0.0
  package private(set) var replyShare = 0.0
  /// The quartiles, and the last percentile, of how many messages a reply reaches back.
  package private(set) var replyDistances: [Int] = []
  /// The different senders in a hundred messages of the largest conversation, on average.
  package private(set) var sendersPerHundred = 0.0
  package private(set) var meanByteCount = 0.0
  /// The lengths in bytes that 5, 25, 50, 75, 95, 99 and 99.9 % of texts do not exceed.
  package private(set) var byteCounts: [Int] = []
  /// The share of messages that are mostly in a script; `none` has no letters.
  package private(set) var scripts: [String: Double] = [:]
  package private(set) var emojiShare = 0.0
  package private(set) var linkShare = 0.0
  package private(set) var lineShare = 0.0
  /// The messages whose text another message has too.
  package private(set) var repeatedShare = 0.0
  /// The share of words that are among the 10, 100, 1,000 and 10,000 most frequent ones.
  package private(set) var wordShares: [Double] = []
  package private(set) var mentionShare = 0.0
  package private(set) var reactionShare = 0.0
  package private(set) var attachmentShare = 0.0
  package private(set) var editShare = 0.0
  /// The messages that an import brings after a newer one of their conversation.
  package private(set) var lateShare = 0.0

  /// Counts made-up messages.
  package init(madeUp messageCount: Int, seed: UInt64) {
    self.init(
      SyntheticCorpus(
        conversationCount: SyntheticCorpus.conversationCount(for: messageCount), seed: seed),
      messageCount: messageCount)
  }

  init(_ corpus: any Corpus, messageCount: Int) {
    var stream = corpus.makeStream()
    let messages = stream.next(count: messageCount)
    self.messageCount = messageCount
    countThreads(messages, conversationCount: corpus.conversations.count)
    countTexts(messages)
    let parts = messages.compactMap(\.extras)
    let all = Double(messageCount)
    mentionShare = Double(parts.count { !$0.mentions.isEmpty }) / all
    reactionShare = Double(parts.count { !$0.reactions.isEmpty }) / all
    attachmentShare = Double(parts.count { !$0.attachments.isEmpty }) / all
    editShare = Double(messages.count { $0.editedAt != nil }) / all
    lateShare = Double(Self.lateCount(messages)) / all
  }

  private mutating func countThreads(_ messages: [ChatMessage], conversationCount: Int) {
    var threads = Array(repeating: [ChatMessage](), count: conversationCount)
    for message in messages { threads[message.conversation].append(message) }
    threads.removeAll { $0.isEmpty }
    self.conversationCount = threads.count
    let sizes = threads.map(\.count)
    let largest = threads.max { $0.count < $1.count } ?? []
    largestShare = Double(largest.count) / Double(messages.count)
    sizeShares = [2, 9, 19, 29, 99].map { limit in
      Double(sizes.count { $0 <= limit }) / Double(sizes.count)
    }
    var (pairs, runs, equal, replies) = (0, 0, 0, 0)
    var distances: [Int] = []
    for thread in threads {
      var places: [String: Int] = [:]
      for (index, message) in thread.enumerated() {
        places[message.id] = index
        if let id = message.replyTo {
          replies += 1
          if let place = places[id] { distances.append(index - place) }
        }
        guard index > 0 else { continue }
        pairs += 1
        runs += thread[index - 1].sender == message.sender ? 1 : 0
        equal += thread[index - 1].serverTime == message.serverTime ? 1 : 0
      }
    }
    runShare = Double(runs) / Double(max(1, pairs))
    equalTimeShare = Double(equal) / Double(max(1, pairs))
    replyShare = Double(replies) / Double(messages.count)
    distances.sort()
    replyDistances = Self.quantiles([0.25, 0.5, 0.75, 0.99], of: distances)
    let hundreds = stride(from: 0, to: largest.count - 99, by: 100).map { start in
      Double(Set(largest[start..<start + 100].map(\.sender)).count)
    }
    sendersPerHundred = hundreds.reduce(0, +) / Double(max(1, hundreds.count))
  }

  private mutating func countTexts(_ messages: [ChatMessage]) {
    let all = Double(messages.count)
    let lengths = messages.map(\.text.utf8.count).sorted()
    meanByteCount = Double(lengths.reduce(0, +)) / all
    byteCounts = Self.quantiles([0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 0.999], of: lengths)
    var texts: [String: Int] = [:]
    var words: [Substring: Int] = [:]
    for message in messages {
      texts[message.text, default: 0] += 1
      for word in message.text.split(separator: " ") { words[word, default: 0] += 1 }
      scripts[Self.script(of: message.text), default: 0] += 1 / all
      let hasEmoji = message.text.unicodeScalars.contains {
        $0.value >= 0x1F000 || (0x2600..<0x27C0).contains($0.value)
      }
      emojiShare += hasEmoji ? 1 / all : 0
      linkShare += Self.hasLink(message.text) ? 1 / all : 0
      lineShare += message.text.utf8.contains(10) ? 1 / all : 0
    }
    repeatedShare = Double(texts.values.reduce(0) { $0 + ($1 > 1 ? $1 : 0) }) / all
    let counts = words.values.sorted(by: >)
    let total = Double(counts.reduce(0, +))
    wordShares = [10, 100, 1_000, 10_000].map { Double(counts.prefix($0).reduce(0, +)) / total }
  }

  /// Returns the script of most letters of a text.
  private static func script(of text: String) -> String {
    var counts: [String: Int] = [:]
    for scalar in text.unicodeScalars where scalar.properties.isAlphabetic {
      let name: String
      switch scalar.value {
      case 0..<0x250: name = "Latin"
      case 0x400..<0x530: name = "Cyrillic"
      case 0x590..<0x780: name = "Arabic or Hebrew"
      case 0x3040..<0x3100: return "Japanese"
      case 0x3400..<0xA000: name = "Han"
      case 0x1100..<0x1200, 0x3130..<0x3190, 0xAC00..<0xD7B0: name = "Hangul"
      default: name = "other"
      }
      counts[name, default: 0] += 1
    }
    return counts.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key ?? "none"
  }

  private static func hasLink(_ text: String) -> Bool {
    let letters = Array("http".utf8)
    var count = 0
    for byte in text.utf8 {
      count = byte == letters[count] ? count + 1 : byte == letters[0] ? 1 : 0
      if count == letters.count { return true }
    }
    return false
  }

  private static func lateCount(_ messages: [ChatMessage]) -> Int {
    var late = LateArrivals(seed: 1)
    var newest: [Int: Int64] = [:]
    var count = 0
    for start in stride(from: 0, to: messages.count, by: Stores.batchCount) {
      let end = min(start + Stores.batchCount, messages.count)
      let batch = late.arrivals(
        of: Array(messages[start..<end]), isLast: end == messages.count)
      for message in batch {
        let time = message.serverTime ?? 0
        if time < newest[message.conversation] ?? .min { count += 1 }
        newest[message.conversation] = max(time, newest[message.conversation] ?? .min)
      }
    }
    return count
  }

  private static func quantiles(_ shares: [Double], of sorted: [Int]) -> [Int] {
    shares.map { share in
      sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, Int(share * Double(sorted.count)))]
    }
  }
}

extension CorpusCount {
  /// The figures in the order of the table in `docs/benchmark.md`.
  package var text: String {
    func percent(_ share: Double) -> String { Number.text(100 * share, digits: 2) + " %" }
    func list<Value>(_ values: [Value], _ text: (Value) -> String) -> String {
      values.map(text).joined(separator: ", ")
    }
    let scripts = scripts.sorted { $0.value > $1.value }.map { "\($0.key) \(percent($0.value))" }
    let lines = [
      "messages \(messageCount), conversations \(conversationCount)",
      "in the largest \(percent(largestShare))", "sizes \(list(sizeShares, percent))",
      "runs \(percent(runShare))", "equal times \(percent(equalTimeShare))",
      "late \(percent(lateShare))", "replies \(percent(replyShare))",
      "reply distances \(list(replyDistances) { String($0) })",
      "senders in a hundred \(Number.text(sendersPerHundred, digits: 1))",
      "bytes \(Number.text(meanByteCount, digits: 1))",
      "byte counts \(list(byteCounts) { String($0) })",
      "scripts \(scripts.joined(separator: ", "))", "emoji \(percent(emojiShare))",
      "links \(percent(linkShare))", "lines \(percent(lineShare))",
      "repeated texts \(percent(repeatedShare))", "words \(list(wordShares, percent))",
      "mentions \(percent(mentionShare))", "reactions \(percent(reactionShare))",
      "attachments \(percent(attachmentShare))", "edits \(percent(editShare))",
    ]
    return lines.joined(separator: "\n") + "\n"
  }
}
