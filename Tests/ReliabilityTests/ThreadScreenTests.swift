import ChatClient
import Foundation
import MsgStore
import Simulation
import Synchronization
import Testing

/// Screens that follow the store: lines, names, titles, and pictures.
struct ThreadScreenTests {
  private let world: World
  private let ann: ChatClient
  private let bob: ChatClient

  init() throws {
    world = try World()
    ann = try world.client("ann")
    bob = try world.client("bob")
  }

  @Test(arguments: 1...5)
  func aScreenShowsAfterEachChangeTheLinesOfTheStore(_ seed: Int) async throws {
    let room = try await world.room(ann, bob)
    let shown = Mutex<[String]>([])
    let screen = bob.screen(of: room, newest: 7) { lines in shown.withLock { $0 = lines } }
    let watching = Task { try await screen.follow() }
    defer { watching.cancel() }
    var random = SeededRandom(seed: UInt64(seed))
    for step in 1...60 {
      let client = random.once(in: 2) ? ann : bob
      try await change(room, by: client, step, using: &random)
      if random.once(in: 2) { try await world.settle(ann, bob) }
      try await wait { try shown.withLock { $0 } == bob.lines(in: room, newest: 7) }
    }
    try await world.settle(ann, bob)
    try await wait { try shown.withLock { $0 } == bob.lines(in: room, newest: 7) }
    let lines = try bob.lines(in: room, newest: 7)
    #expect(await screen.lines == lines)
    #expect(!lines.isEmpty)
    watching.cancel()
    try await watching.value
  }

  @Test func aNewNameChangesAllLinesOfItsMember() async throws {
    let room = try await world.room(ann, bob)
    try ann.say("one", in: room)
    try ann.say("two", in: room)
    try bob.say("three", in: room)
    let shown = Mutex<[String]>([])
    let screen = bob.screen(of: room, newest: 5) { lines in shown.withLock { $0 = lines } }
    let watching = Task { try await screen.follow() }
    defer { watching.cancel() }
    for name in [nil, "Ann", "Anna", nil] {
      try await ann.setProfile(name: name)
      try await world.settle(ann, bob)
      let shownName = name ?? "ann"
      let expected = ["\(shownName): one", "\(shownName): two", "bob: three"]
      try await wait { shown.withLock { $0 } == expected }
      #expect(try bob.lines(in: room, newest: 5) == expected)
    }
  }

  @Test func namesComeWithTitles() async throws {
    let direct = try await world.room(ann, bob)
    let local = try await ann.store.write { chat in
      [
        try chat.createGroup(participants: ["bob", "carol"]).id,
        try chat.createGroup(participants: ["bob", "carol"], title: "all of us").id,
      ]
    }
    try await world.settle(ann, bob)
    let groups = try await ann.store.read { chat in
      try local.compactMap { try chat.conversation($0)?.id }
    }
    #expect(try title(of: direct) == ["ann"])
    try await ann.setProfile(name: "Ann")
    try await world.settle(ann, bob)
    #expect(try title(of: direct) == ["Ann"])
    #expect(try title(of: groups[0]) == ["Ann", "carol"])
    #expect(try title(of: groups[1]) == ["all of us"])
  }

  @Test func theGalleryHasTheNewestPicturesFirst() async throws {
    let room = try await world.room(ann, bob)
    #expect(try bob.gallery(in: room, count: 2).isEmpty)
    let messages: [[(String, AttachmentKind)]] = [
      [("oldest", .image)], [("older", .image)], [("paper", .document)], [],
      [("first", .image), ("film", .video), ("second", .image)], [],
    ]
    for (number, files) in messages.enumerated() {
      let attachments = try files.map { name, kind in try file(name, kind) }
      try ann.say("message \(number)", in: room, attachments: attachments)
    }
    try await world.settle(ann, bob)
    for client in [ann, bob] {
      let one = try client.gallery(in: room, count: 1).map(\.attachment.id)
      #expect(one == ["first", "second"])
      let two = try client.gallery(in: room, count: 2).map(\.attachment.id)
      #expect(two == ["first", "second", "older"])
      let all = try client.gallery(in: room, count: 10).map(\.attachment.id)
      #expect(all == ["first", "second", "older", "oldest"])
    }
    #expect(try bob.gallery(in: room, count: 1).allSatisfy { $0.download == .notRequested })
  }

  /// Makes one random change in a conversation, or to the name of a member.
  private func change(
    _ room: ConversationID, by client: ChatClient, _ step: Int,
    using random: inout SeededRandom
  ) async throws {
    let member = client.member
    let shown = try client.messages(in: room).filter { !$0.isRetracted && !$0.text.isEmpty }
    let target = shown.randomElement(using: &random)?.id
    let own = shown.filter { $0.sender == member }.randomElement(using: &random)?.id
    switch (random.below(7), own, target) {
    case (0, let own?, _):
      try await client.store.write { chat in
        _ = try chat.edit(own, in: room, text: "edit \(step)")
      }
    case (1, let own?, _):
      try await client.store.write { chat in _ = try chat.retract(own, in: room) }
    case (2, _, let target?):
      try await client.store.write { chat in _ = try chat.react("👍", to: target, in: room) }
    case (3, _, let target?):
      try await client.store.write { chat in
        _ = try chat.removeReaction("👍", from: target, in: room)
      }
    case (4, _, _):
      try await client.setProfile(name: random.once(in: 3) ? nil : "\(member) \(step)")
    default: try client.say("message \(step)", in: room)
    }
  }

  /// Returns the parts of a conversation's title as Bob sees it, in order.
  private func title(of room: ConversationID) throws -> [String] {
    let found = try bob.titles(count: 5).first { $0.room == room }
    let title = try #require(found?.title)
    return title.components(separatedBy: ", ").sorted()
  }

  /// Makes a small file to send.
  private func file(_ name: String, _ kind: AttachmentKind) throws -> MessageAttachment {
    let path = world.path(name)
    try Data(name.utf8).write(to: URL(fileURLWithPath: path))
    return MessageAttachment(
      id: name, kind: kind, localPath: path, byteCount: Int64(name.utf8.count))
  }
}
