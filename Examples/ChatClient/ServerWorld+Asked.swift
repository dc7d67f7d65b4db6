import Foundation
import MsgStore

/// Names, history, and files, as the pretend server gives them out.
extension ServerWorld {
  mutating func setProfile(_ name: String?, _ picture: String?, of member: MemberID) {
    let version = (profiles[member]?.version ?? 0) + 1
    let profile = WireProfile(member: member, name: name, picture: picture, version: version)
    profiles[member] = profile
    var concerned: Set<MemberID> = [member]
    for room in rooms.values where room.wire.members.contains(member) {
      concerned.formUnion(room.wire.members)
    }
    for other in concerned { news[other, default: Inbox()].append(.profile(profile)) }
  }

  /// Tells the members of a conversation how each of them is shown.
  mutating func tellProfiles(in room: ConversationID) {
    let members = rooms[room]?.wire.members ?? []
    for profile in members.compactMap({ profiles[$0] }) {
      for member in members { news[member, default: Inbox()].append(.profile(profile)) }
    }
  }

  /// The newest messages of a range, as they were sent: edits and reactions are told as news.
  func history(of room: Room, _ first: Int64, _ last: Int64, _ count: Int) -> Answer {
    // Numbers begin at 1 and have no gaps here.
    let end = Int(min(max(last, 0), Int64(room.sent.count)))
    let begin = min(Int(min(max(first, 1), Int64.max - 1)) - 1, end)
    return .history(
      room.sent[begin..<end].suffix(max(count, 0)).map { message in
        var message = message
        if room.unsent.contains(message.id) { (message.text, message.files) = ("", []) }
        return message
      })
  }

  func piece(of url: String, at offset: Int, _ count: Int) throws(Refused) -> Answer {
    guard let bytes = files[url] else { throw Refused(.notFound, "there is no file \(url)") }
    guard offset >= 0, count > 0 else { throw Refused(.invalid, "there is no such piece") }
    return .piece(Data(bytes.dropFirst(offset).prefix(count)), byteCount: bytes.count)
  }
}
