import Foundation
public import MsgStore

/// Names of people.
extension ChatClient {
  static let profileWork = "profile"

  private struct Profile: Codable {
    let name: String?
    let picture: String?
  }

  /// Has the member shown under a name, with a picture, to all who share a conversation.
  ///
  /// It waits in the outbox as messages do, and is shown here when it comes back as news.
  public func setProfile(name: String?, picture: String? = nil) async throws {
    let payload = Array(try JSONEncoder().encode(Profile(name: name, picture: picture)))
    try await store.write { chat in _ = try chat.outbox.enter(Self.profileWork, payload: payload) }
  }

  func profileRequest(_ payload: [UInt8], token: String) -> Request {
    let profile = try? JSONDecoder().decode(Profile.self, from: Data(payload))
    return Request(
      from: member, token: token,
      .setProfile(name: profile?.name, picture: profile?.picture))
  }

  /// The conversations with the names to show for them, newest first.
  ///
  /// An id stands where no name is known.
  public func titles(count: Int) throws -> [(room: ConversationID, title: String)] {
    try store.read { chat in
      try chat.conversations(count: count).map { room in
        let others = room.participants.filter { $0 != member }
        let names = others.map { room.profile(of: $0)?.name ?? "\($0)" }.joined(separator: ", ")
        return (room.id, room.title ?? names)
      }
    }
  }
}
