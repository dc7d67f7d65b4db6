public import Foundation
public import MsgStore

/// Times go over the wire as microseconds since 1970: the store's `Timestamp` leaves the unit to
/// those who agree on a format.
public typealias Microseconds = Int64

/// What a client asks the server.
public struct Request: Codable, Sendable {
  /// Who asks; a real server would not take a client's word for it.
  public var member: MemberID
  /// What the server knows the request by when it comes again; nil for what may be asked any number
  /// of times.
  public var token: String?
  /// What is asked.
  public var call: Call

  /// A request.
  public init(from member: MemberID, token: String? = nil, _ call: Call) {
    self.member = member
    self.token = token
    self.call = call
  }
}

/// What a server can be asked.
public enum Call: Codable, Sendable {
  /// What has happened since the client asked last.
  case news(after: Int)
  /// To make a conversation, or to find the direct one that is there already.
  case createRoom(WireRoom)
  /// To change who takes part, or what the conversation looks like.
  case changeRoom(ConversationID, RoomChange)
  /// To take a conversation from the list of the member who asks.
  case deleteRoom(ConversationID)
  /// To take a message.
  case send(WireMessage)
  /// To give a message another text.
  case edit(MessageID, in: ConversationID, text: String, mentions: [MemberID])
  /// To take a message back.
  case retract(MessageID, in: ConversationID)
  /// To add a reaction, or to take it away.
  case react(String, to: MessageID, in: ConversationID, isRemoved: Bool)
  /// To tell the others what was read or delivered.
  case receipt(WireReceipt)
  /// How much of a file the server has.
  case uploadState(String)
  /// To take a piece of a file. It says where it belongs, so it may come any number of times.
  case uploadPiece(String, offset: Int, bytes: Data, isLast: Bool)
  /// A piece of a file that is there.
  case downloadPiece(url: String, offset: Int, byteCount: Int)
  /// To show the member who asks under a name, with a picture.
  case setProfile(name: String?, picture: String?)
  /// The newest messages with these numbers, so many at most.
  case history(ConversationID, from: Int64, upTo: Int64, count: Int)
}

/// What changes about a conversation.
public enum RoomChange: Codable, Sendable {
  case title(String?)
  case avatar(String?)
  case members(added: [MemberID], removed: [MemberID])
}

/// What a server answers.
public enum Answer: Codable, Sendable {
  /// It is done; this is the time under which the others hear of it.
  case done(at: Microseconds)
  /// A message was taken, and this is its place.
  case placed(at: Microseconds, sequence: Int64)
  /// The server's name for a conversation.
  case room(ConversationID)
  /// So much of a file is there.
  case received(byteCount: Int)
  /// A file is there, and can be fetched from here.
  case uploaded(url: String)
  /// A piece of a file, and the length of the whole.
  case piece(Data, byteCount: Int)
  /// Messages of long ago, oldest first.
  case history([WireMessage])
  /// What has happened, and where to go on.
  case news([News], next: Int)
  /// The server does not do it, and asking again will not help.
  case refused(Refusal, String)
}

/// Why a server does not do something.
public enum Refusal: String, Codable, Sendable {
  case permission, notFound, invalid
}

/// Something that has happened, as every device of everybody concerned is told, the one that has
/// caused it included: it may have died before it got its answer.
public enum News: Codable, Sendable {
  case room(WireRoom)
  case roomDeleted(ConversationID, at: Microseconds)
  case message(WireMessage)
  case edit(
    MessageID, in: ConversationID, text: String, mentions: [MemberID], at: Microseconds)
  case retract(MessageID, in: ConversationID, at: Microseconds)
  case reaction(
    String, from: MemberID, to: MessageID, in: ConversationID, isRemoved: Bool, at: Microseconds)
  case receipt(WireReceipt, of: MemberID, at: Microseconds)
  case profile(WireProfile)
}

/// A conversation on the wire.
public struct WireRoom: Codable, Sendable {
  var id: ConversationID
  var isDirect: Bool
  var members: [MemberID]
  var title: String?
  var avatar: String?
  var createdBy: MemberID
  var createdAt: Microseconds
  /// The time of this version.
  var changedAt: Microseconds
}

/// A message on the wire; `time` and `sequence` are the server's, and nil before it has taken it.
public struct WireMessage: Codable, Sendable {
  /// What the sender has named it.
  public var id: MessageID
  var room: ConversationID
  var sender: MemberID
  /// What it says.
  public var text: String
  var localTime: Microseconds?
  /// When the server has taken it.
  public var time: Microseconds?
  /// Its number in the conversation, without gaps.
  public var sequence: Int64?
  var replyTo: MessageID?
  var mentions: [MemberID] = []
  var files: [WireFile] = []
}

/// An attachment on the wire: where its bytes lie on the sender's device concerns nobody else.
public struct WireFile: Codable, Sendable {
  var id: String
  var kind: UInt8
  var name: String?
  var mimeType: String?
  var byteCount: Int64?
  var url: String?
}

/// How a member is shown, in one version.
public struct WireProfile: Codable, Sendable {
  var member: MemberID
  var name: String?
  var picture: String?
  var version: Int64
}

/// A receipt on the wire: a mark up to a message, and what it does not cover.
public struct WireReceipt: Codable, Sendable {
  var room: ConversationID
  var isRead: Bool
  var upTo: MessageID?
  var ids: [MessageID]
}
