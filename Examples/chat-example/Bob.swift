import ChatClient
import Foundation
import MsgStore

/// Bob answers, thinks better of it twice, and looks at what comes.
struct Bob {
  private let person: Person

  init(store: String, socket: String) throws {
    person = try Person("bob", store: store, socket: socket)
  }

  func run() async throws {
    let store = person.client.store
    // He knows of no conversation yet: it comes with the first news.
    try await person.client.run {
      try store.read { chat in try chat.conversations(count: 1).first != nil }
    }
    guard let room = try await store.read({ chat in try chat.conversations(count: 1).first?.id })
    else { return }
    // His screen follows the store by itself, until he leaves.
    let screen = person.client.screen(of: room, newest: 10) { [person] lines in
      if let last = lines.last { person.tell("(sees \"\(last)\")") }
    }
    let watching = Task { try await screen.follow() }
    defer { watching.cancel() }
    try await person.wait(for: "I bring the maps", in: room)

    // All of this is shown at once, and told in this order, whenever there is a connection.
    let hasty = try person.say("not today", in: room)
    let answer = try person.say("nune it is", in: room)
    try await store.write { chat in
      try chat.edit(answer, in: room, text: "noon it is")
      try chat.retract(hasty, in: room)
    }
    person.tell("(mends the second one and takes the first one back)")

    try await person.wait(for: "here we are", in: room)
    if let picture = try person.find("here we are", in: room) {
      try await store.write { chat in _ = try chat.react("😍", to: picture.id, in: room) }
    }
    try await savePicture(of: room)
    try person.say("nice place", in: room)
    try await person.leave(room, whenToldBy: "ann")
  }

  /// Opens the gallery, and has the newest picture fetched.
  private func savePicture(of room: ConversationID) async throws {
    let client = person.client
    guard let picture = try client.gallery(in: room, count: 1).first else { return }
    try await client.requestDownload(picture)
    try await client.run { try client.gallery(in: room, count: 1).first?.download == .done }
    for (_, title) in try client.titles(count: 1) { person.tell("(has the picture of \(title))") }
  }
}
