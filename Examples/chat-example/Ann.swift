import ChatClient
import Foundation
import MsgStore

/// Ann begins without a connection: she writes, looks through it, and lets it go.
struct Ann {
  private let person: Person
  private let picture: String

  init(store: String, socket: String) throws {
    person = try Person("ann", store: store, socket: socket)
    picture = store + "-picture"
  }

  func run() async throws {
    let store = person.client.store
    try await person.client.setProfile(name: "Ann")
    // What is written in a tunnel is held until it was looked through. The conversation with Bob is
    // made here, too: the server hears of it before the first message.
    let room = try await store.write { chat in
      try chat.outbox.setHoldsNewEntries(true)
      return try chat.findOrCreateConversation(with: ["bob"]).id
    }
    try person.say("lunch at nonn?", in: room)
    try person.say("you still owe me one", in: room)
    try person.say("I bring the maps", in: room)
    try review()

    // From here on there is a connection.
    try await person.wait(for: "noon it is", in: room)
    guard let answer = try person.find("noon it is", in: room) else { return }
    try await store.write { chat in _ = try chat.react("👍", to: answer.id, in: room) }
    try await sendPicture(to: room)
    try await person.wait(for: "nice place", in: room)
    try await person.leave(room, whenToldBy: "bob")
  }

  /// Looks through what waits: one text is mended, one message goes away, the others may leave.
  private func review() throws {
    try person.client.store.write { chat in
      for entry in try chat.outbox.entries(count: 50).entries {
        switch entry.text {
        case "lunch at nonn?":
          person.tell("(mends \"nonn\")")
          try chat.outbox.setText("lunch at noon?", of: entry.id)
        case "you still owe me one":
          person.tell("(takes the second one out)")
          try chat.outbox.remove(entry.id)
        default: break
        }
      }
      try chat.outbox.releaseAndRetryAll()
    }
  }

  /// A message with a file: it is shown at once, and leaves when the server has the file.
  private func sendPicture(to room: ConversationID) async throws {
    try Data(repeating: 7, count: 1 << 20).write(to: URL(fileURLWithPath: picture))
    var attachment = MessageAttachment(id: "picture", kind: .image)
    attachment.localPath = picture
    attachment.byteCount = 1 << 20
    try person.say("here we are", in: room, attachments: [attachment])
  }
}
