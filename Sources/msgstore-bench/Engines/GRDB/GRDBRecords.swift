#if Peers
  // GRDB takes and gives blobs as `Data`.
  import Foundation
  import GRDB

  /// Rows decoded by hand, by index, which is GRDB's fastest way to a record.
  extension PeerMessage: FetchableRecord, PersistableRecord {
    static let databaseTableName = "messages"

    /// Decodes columns in the order of `SQLiteQuery`.
    init(row: Row) {
      conversation = row[0]
      isPending = row[1]
      time = row[2]
      sequence = row[3]
      id = row[4]
      sender = row[5]
      text = row[6]
      localTime = row[7]
      status = row[8]
      replyTo = row[9]
      editedAt = row[10]
      extras = (row[11] as Data?).map(MessageExtras.unpacked)
    }

    func encode(to container: inout PersistenceContainer) {
      container["conversation"] = conversation
      container["pending"] = isPending
      container["ts"] = time
      container["seq"] = sequence
      container["id"] = id
      container["sender"] = sender
      container["text"] = text
      container["local"] = localTime
      container["status"] = status
      container["reply_to"] = replyTo
      container["edited"] = editedAt
      container["extras"] = extras.map { Data($0.packed) }
    }
  }

  extension MessageExtras {
    static func unpacked(_ data: Data) -> MessageExtras {
      unsafe data.withUnsafeBytes { unsafe MessageExtras(packed: $0) }
    }
  }

  extension PeerConversation: FetchableRecord {
    /// Decodes columns in the order of `SQLiteQuery.list`.
    init(row: Row) {
      let joined: String = row[2]
      number = row[0]
      id = row[1]
      participants = joined.split(separator: "\u{1F}").map(String.init)
      title = row[3]
      lastActivity = row[4]
      unreadCount = row[5]
      messageCount = row[6]
      previewID = row[7]
      previewSender = row[8]
      previewText = row[9]
      previewTime = row[10]
      previewStatus = row[11]
    }
  }

  /// The same record as most users write it: `Codable` makes it fetchable.
  struct GRDBCodableMessage: Codable, FetchableRecord, TableRecord {
    static let databaseTableName = PeerMessage.databaseTableName
    static var databaseSelection: [any SQLSelectable] {
      CodingKeys.allCases.map { Column($0.rawValue) }
    }

    var conversation: Int64
    var isPending: Bool
    var time: Int64
    var sequence: Int64
    var id: String
    var sender: String
    var text: String
    var localTime: Int64?
    var status: UInt8
    var replyTo: String?
    var editedAt: Int64?
    var extras: Data?

    enum CodingKeys: String, CodingKey, CaseIterable {
      case conversation
      case isPending = "pending"
      case time = "ts"
      case sequence = "seq"
      case id, sender, text
      case localTime = "local"
      case status
      case replyTo = "reply_to"
      case editedAt = "edited"
      case extras
    }

    enum Columns {
      static let conversation = Column(CodingKeys.conversation)
      static let isPending = Column(CodingKeys.isPending)
      static let time = Column(CodingKeys.time)
      static let sequence = Column(CodingKeys.sequence)
      static let id = Column(CodingKeys.id)
    }

    var message: PeerMessage {
      PeerMessage(
        conversation: conversation, isPending: isPending, time: time, sequence: sequence, id: id,
        sender: sender, text: text, localTime: localTime, status: status, replyTo: replyTo,
        editedAt: editedAt, extras: extras.map(MessageExtras.unpacked))
    }
  }
#endif
