import MsgStore
import PageFile
import RandomChat
import Testing

/// Slices of messages with a tag are those of the thread without all other messages.
struct TagSlicesTests {
  @Test func slicesAreThoseOfTheThreadWithoutTheOthers() throws {
    // A store may have lost all its messages in the end, but not one after the other.
    var comparedCount = 0
    for seed in seeds(6, debugCount: 3) {
      var made = RandomStore(seed: seed, packing: .random(seed), idCount: 60)
      let store = try made.make(stepCount: 400)
      var random = SeededGenerator(seed: seed)
      try store.read { chat in
        for id in RandomActs.conversations {
          let all = try messages(of: id, chat)
          for tag in MessageTag.builtIn + [.own("a")] {
            let tagged = all.filter { has(tag, $0) }
            let thread = try chat.thread(id)
            let found = try thread.tagged(tag)
            for _ in 0..<20 {
              guard let from = all.randomElement(using: &random) else { continue }
              let count = Int.random(in: 1...9, using: &random)
              comparedCount += tagged.isEmpty ? 0 : 1
              let older = tagged.filter { $0.position < from.position }
              let newer = tagged.filter { $0.position > from.position }
              let comment: Comment = "seed \(seed): \(id), \(tag), \(from.id), \(count)"
              let after = try found.after(from.position, count: count)
              #expect(after.ids == newer.prefix(count).map(\.id.string), comment)
              #expect((after.newer == .end) == (newer.count <= count), comment)
              #expect((after.older == .end) == (newer.count == tagged.count), comment)
              let before = try found.before(from.position, count: count)
              #expect(before.ids == older.suffix(count).map(\.id.string), comment)
              #expect((before.older == .end) == (older.count <= count), comment)
              #expect((before.newer == .end) == (older.count == tagged.count), comment)
              let around = try found.around(from.id, count: count)
              expectAround(around, tagged, from.position, count, comment)
            }
          }
        }
      }
      try store.close()
    }
    #expect(comparedCount > 0)
  }

  /// All messages of a conversation, also those beyond gaps.
  private func messages(
    of id: ConversationID, _ chat: borrowing StoreSnapshot
  ) throws -> [Message] {
    let thread = try chat.thread(id)
    var slice = try thread.tail(10_000)
    var all = Array(slice)
    while true {
      guard let position = slice.older.next else { return all }
      slice = try thread.before(position, count: 10_000)
      all = Array(slice) + all
    }
  }

  private func expectAround(
    _ slice: MessageSlice, _ tagged: [Message], _ position: MessagePosition, _ count: Int,
    _ comment: Comment
  ) {
    let start = tagged.prefix { $0.position < position }.count
    let before = min(start, count / 2)
    let taken = min(tagged.count - start, count - before)
    let first = max(0, start - (count - taken))
    #expect(slice.ids == tagged[first..<start + taken].map(\.id.string), comment)
    #expect((slice.older == .end) == (first == 0), comment)
    #expect((slice.newer == .end) == (start + taken == tagged.count), comment)
  }

  /// The rule, said once more.
  private func has(_ tag: MessageTag, _ message: Message) -> Bool {
    guard !message.isRetracted else { return false }
    let kinds = message.attachments.map(\.kind)
    switch tag {
    case .image: return kinds.contains(.image)
    case .video: return kinds.contains(.video)
    case .audio: return kinds.contains(.audio)
    case .file: return kinds.contains(.document) || kinds.contains(.other)
    case .mention: return message.mentions.contains("me")
    case .pinned, .starred, .own: return message.tags.contains(tag)
    case .link:
      let text = message.text.lowercased()
      if message.tags.contains(.link) { return true }
      return text.contains("http://") || text.contains("https://")
    }
  }
}
