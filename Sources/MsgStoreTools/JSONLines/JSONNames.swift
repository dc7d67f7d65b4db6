package import MsgStore

/// The names of states and kinds in JSON and in tables.
extension MessageStatus: JSONName {
  static var noun: String { "status" }

  package var name: String {
    switch self {
    case .pending: "pending"
    case .failed: "failed"
    case .sent: "sent"
    case .delivered: "delivered"
    case .read: "read"
    case .held: "held"
    case .sending: "sending"
    case .retrying: "retrying"
    }
  }
}

extension FailureKind: JSONName {
  static var noun: String { "kind of failure" }

  package var name: String {
    switch self {
    case .other: "other"
    case .noConnection: "no connection"
    case .timeOut: "time-out"
    case .permission: "permission"
    case .notFound: "not found"
    case .invalid: "invalid"
    }
  }
}

extension AttachmentKind: JSONName {
  static var noun: String { "kind of attachment" }

  package var name: String {
    switch self {
    case .other: "other"
    case .image: "image"
    case .video: "video"
    case .audio: "audio"
    case .document: "document"
    }
  }
}

extension ConversationKind: JSONName {
  static var noun: String { "type of conversation" }

  package var name: String {
    switch self {
    case .unknown: "unknown"
    case .direct: "direct"
    case .group: "group"
    }
  }
}

extension ReceiptKind: JSONName {
  static var noun: String { "kind of receipt" }

  package var name: String {
    switch self {
    case .delivered: "delivered"
    case .read: "read"
    }
  }
}

extension Arrival: JSONName {
  static var allCases: [Arrival] { [.live, .history] }
  static var noun: String { "arrival" }

  package var name: String {
    switch self {
    case .live: "live"
    case .history: "history"
    }
  }
}

extension OutboxKind: JSONName {
  static var noun: String { "task of the outbox" }

  package var name: String {
    switch self {
    case .send: "send"
    case .edit: "edit"
    case .retract: "unsend"
    case .react: "react"
    case .readReceipt: "read receipt"
    case .deliveredReceipt: "delivered receipt"
    case .createConversation: "create conversation"
    case .deleteConversation: "delete conversation"
    case .leaveConversation: "leave conversation"
    case .changeMembers: "change members"
    case .setTitle: "set title"
    case .setAvatar: "set avatar"
    case .upload: "upload"
    case .client: "client"
    case .setMessageField: "set message field"
    case .setConversationField: "set conversation field"
    case .setMemberField: "set member field"
    }
  }
}

extension ExportedEntry.State: JSONName {
  static var noun: String { "state of an entry" }
  package var name: String { rawValue }
}
