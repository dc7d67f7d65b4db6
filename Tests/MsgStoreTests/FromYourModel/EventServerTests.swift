import Foundation
import MsgStore
import Testing

/// A stream of events that the server names itself, some of them about other events.
struct EventServerTests {
  private static let documents = [
    // Positions 61 to 70. Edit and reaction come before what they are about.
    """
    {"next": "s70", "rooms": [{"room": "!pub", "from": 61, "to": 70, "events": [
      {"event": "$e61", "type": "join", "sender": "@bob", "at": 1704060000000, "position": 61},
      {"event": "$e63", "type": "edit", "sender": "@bob", "at": 1704067300000, "position": 63,
       "target": "$e80", "body": "Quiz at nine"},
      {"event": "$e65", "type": "reaction", "sender": "@eve", "at": 1704067310000, "position": 65,
       "target": "$e80", "body": "🎉"},
      {"event": "$e66", "type": "message", "sender": "@bob", "at": 1704067250000, "position": 66,
       "body": "First round?"},
      {"event": "$e70", "type": "redaction", "sender": "@eve", "at": 1704067400000, "position": 70,
       "target": "$e90"}]}]}
    """,
    // 71 to 79 have not come: the server has left them out.
    """
    {"next": "s90", "rooms": [{"room": "!pub", "from": 80, "to": 90, "events": [
      {"event": "$e80", "type": "message", "sender": "@bob", "at": 1704067270000, "position": 80,
       "body": "Quiz at eight"},
      {"event": "$e82", "type": "message", "sender": "@ann", "at": 1704067280000, "position": 82,
       "body": "I'm in", "transaction": "txn-1", "target": "$e66"},
      {"event": "$e83", "type": "title", "sender": "@bob", "at": 1704067281000, "position": 83,
       "body": "Pub quiz"},
      {"event": "$e85", "type": "leave", "sender": "@eve", "at": 1704067500000, "position": 85},
      {"event": "$e90", "type": "reaction", "sender": "@eve", "at": 1704067390000, "position": 90,
       "target": "$e66", "body": "👍"}],
      "receipts": [{"member": "@bob", "event": "$e82", "at": 1704067290000}]}]}
    """,
    // Read back later, with what was there already.
    """
    {"next": "s90", "rooms": [{"room": "!pub", "from": 71, "to": 80, "events": [
      {"event": "$e72", "type": "join", "sender": "@eve", "at": 1704060100000, "position": 72},
      {"event": "$e75", "type": "message", "sender": "@eve", "at": 1704067260000, "position": 75,
       "body": "secret"},
      {"event": "$e76", "type": "join", "sender": "@ann", "at": 1704060200000, "position": 76},
      {"event": "$e80", "type": "message", "sender": "@bob", "at": 1704067270000, "position": 80,
       "body": "Quiz at eight"}]}]}
    """,
    """
    {"next": "s92", "rooms": [{"room": "!pub", "from": 91, "to": 92, "events": [
      {"event": "$e91", "type": "redaction", "sender": "@eve", "at": 1704067600000, "position": 91,
       "target": "$e75"},
      {"event": "$e92", "type": "reaction", "sender": "@bob", "at": 1704067610000, "position": 92,
       "target": "$e82", "body": "👏"}]}]}
    """,
  ]

  private let run = ShapeRun<EventUpdate>(
    localMember: "@ann", documents: Self.documents,
    before: { chat in
      try chat.send(
        Message(id: "txn-1", in: "!pub", from: "@ann", text: "I'm in", replyTo: "$e66"))
    },
    take: { try $0.take($1) })

  @Test func everyFieldIsReadBack() throws {
    let store = try run.store()
    try store.read { chat in
      let room = try #require(try chat.conversation("!pub"))
      #expect(room.title == "Pub quiz" && room.kind == .group)
      #expect(room.participants == ["@bob", "@ann"])
      #expect(try chat.formerMembers(of: "!pub") == ["@eve"])
      #expect(try chat.gaps(in: "!pub") == [])
      let thread = try chat.thread("!pub").tail(9)
      #expect(thread.ids == ["$e66", "$e75", "$e80", "txn-1"])
      #expect(thread.map(\.sequence) == [66, 75, 80, 82])
      #expect(thread[0].reactions == [] && thread[0].text == "First round?")
      #expect(thread[1].isRetracted && thread[1].text == "" && thread[1].sender == "@eve")
      #expect(thread[2].text == "Quiz at nine" && thread[2].isEdited)
      #expect(thread[2].reactions.map(\.emoji) == ["🎉"])
      #expect(try chat.history(of: "$e80", in: "!pub").map(\.text) == ["Quiz at eight"])

      // Both names lead to the message, and what is about the one is about the other.
      let mine = try #require(try chat.message("$e82", in: "!pub"))
      #expect(mine == thread[3] && mine.id == "txn-1" && mine.text == "I'm in")
      #expect(mine.serverTimestamp == Timestamp(milliseconds: 1_704_067_280_000))
      #expect(mine.status == .read && mine.replyTo == "$e66")
      #expect(mine.reactions.map(\.member) == ["@bob"])
      #expect(try chat.delivery(of: "txn-1", in: "!pub")?.isReadByAll == true)
    }
    try store.expectSound()
  }

  @Test func whatTheStreamHasLeftOutIsAGap() throws {
    let store = try run.store(2)
    #expect(try store.read { try $0.gaps(in: "!pub") } == [71...79])
  }

  @Test func anyOrderEndsTheSame() throws { try run.expectSameInAnyOrder() }
  @Test func theDocumentHasThisCode() throws { try expectDocument(has: #filePath) }
}

// document begins
struct EventUpdate: Decodable {
  struct Event: Decodable {
    let event: MessageID
    let type: String
    let sender: MemberID
    let at: Int64
    let position: Int64
    let transaction: MessageID?
    let target: MessageID?
    let body: String?
    var time: Timestamp { Timestamp(milliseconds: at) }
  }
  struct Receipt: Decodable {
    let member: MemberID
    let event: MessageID
    let at: Int64
  }
  struct Room: Decodable {
    let room: ConversationID
    let from: Int64
    let to: Int64
    let events: [Event]?
    let receipts: [Receipt]?
  }
  let next: String
  let rooms: [Room]
}

extension MessageStore {
  func take(_ update: EventUpdate) throws {
    try write(.relaxed) { chat in
      for room in update.rooms {
        for event in room.events ?? [] { try chat.take(event, in: room.room) }
        for receipt in room.receipts ?? [] {
          try chat.receive(
            ReceivedReceipt(
              in: room.room, of: receipt.member, .read, .upTo(receipt.event),
              time: Timestamp(milliseconds: receipt.at)))
        }
        // Most positions are no messages: only what no batch has covered is missing.
        try chat.declareAbsent(room.from...room.to, in: room.room)
      }
      try chat.setSyncPosition(Array(update.next.utf8), for: "stream")
    }
  }
}

extension StoreWriter {
  fileprivate func take(_ event: EventUpdate.Event, in room: ConversationID) throws {
    var news = ReceivedConversation(room, at: event.time)
    news.kind = .group
    switch (event.type, event.target) {
    case ("message", let target):
      try insert(
        Message(
          id: event.event, in: room, from: event.sender, text: event.body ?? "",
          serverTimestamp: event.time, sequence: event.position, replyTo: target))
      if let transaction = event.transaction {
        try acknowledge(
          transaction, in: room, serverTimestamp: event.time, sequence: event.position,
          as: event.event)
      }
    case ("edit", let target?):
      try receiveEdit(of: target, in: room, text: event.body ?? "", at: event.time)
    case ("reaction", let target?):
      try take(
        Reaction(event.body ?? "", from: event.sender, at: event.time), named: event.event,
        to: target, in: room)
    case ("redaction", let target?):
      try redact(target, at: event.time, in: room)
    case ("join", _), ("leave", _):
      let isJoining = event.type == "join"
      news.members = [
        .init(event.sender, isActive: isJoining, joinedAt: isJoining ? event.time : nil)
      ]
      try receive(news)
    case ("title", _):
      news.title = ReceivedConversation.Text(event.body)
      try receive(news)
    default:
      break
    }
  }

  /// A reaction is no message here and has no name: what it was is kept for the event that redacts
  /// it.
  private func take(
    _ reaction: Reaction, named event: MessageID, to target: MessageID, in room: ConversationID
  ) throws {
    let isRedacted = try syncPosition(for: "redacted \(event)", in: room) != nil
    try receive(reaction, isRemoved: isRedacted, to: target, in: room)
    let parts = [target.string, reaction.member.string, reaction.emoji]
    let kept = parts + ["\(reaction.time.microseconds)"]
    try setSyncPosition(Array(kept.joined(separator: "\n").utf8), for: "\(event)", in: room)
  }

  private func redact(
    _ event: MessageID, at time: Timestamp, in room: ConversationID
  ) throws {
    if let kept = try syncPosition(for: "\(event)", in: room) {
      let parts = String(decoding: kept, as: UTF8.self).split(separator: "\n").map(String.init)
      let made = Timestamp(microseconds: Int64(parts[3]) ?? 0)
      let reaction = Reaction(parts[2], from: MemberID(parts[1]), at: made)
      try receive(reaction, isRemoved: true, to: MessageID(parts[0]), in: room)
    } else {
      try setSyncPosition([], for: "redacted \(event)", in: room)
      try receiveRetraction(of: event, in: room, at: time)
    }
  }
}
// document ends
