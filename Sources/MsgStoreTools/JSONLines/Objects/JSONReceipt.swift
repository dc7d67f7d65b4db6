package import MsgStore

/// The reading state of a conversation: with a member, the server's facts about that member;
/// without one, the local member's own marks.
package struct JSONReceipt: JSONObjectValue, Sendable, Equatable {
  static let noun = "a receipt"
  package var conversation: ConversationID = ""
  package var member: MemberID?
  /// The place of the local member's read mark; nil if nothing has been read.
  package var upTo: JSONMark?
  package var deliveredUpTo: MessagePosition?
  package var confirmedRead: MessagePosition?
  package var confirmedDelivered: MessagePosition?
  package var read: [ExportedStep] = []
  package var delivered: [ExportedStep] = []
  package var readSequences: [ExportedSequenceStep] = []
  package var deliveredSequences: [ExportedSequenceStep] = []

  package init() {}

  package init(_ conversation: ConversationID, upTo: JSONMark?) {
    self.conversation = conversation
    self.upTo = upTo
  }

  init(_ marks: ExportedMarks) {
    conversation = marks.conversation
    upTo = marks.readMark.map(JSONMark.place)
    deliveredUpTo = marks.deliveredMark
    confirmedRead = marks.confirmedRead
    confirmedDelivered = marks.confirmedDelivered
    read = marks.read
    delivered = marks.delivered
  }

  init(_ receipts: ExportedReceipts) {
    conversation = receipts.conversation
    member = receipts.member
    read = receipts.read
    delivered = receipts.delivered
    readSequences = receipts.readSequences
    deliveredSequences = receipts.deliveredSequences
  }

  mutating func visit(_ fields: inout some JSONFieldVisitor) throws(StoreToolError) {
    try fields.required("conversation", &conversation)
    try fields.optional("member", &member)
    if member == nil {
      try fields.nullable("up_to", &upTo)
      try fields.optional("delivered_up_to", &deliveredUpTo)
      try fields.optional("confirmed_read", &confirmedRead)
      try fields.optional("confirmed_delivered", &confirmedDelivered)
    }
    try fields.list("read", &read)
    try fields.list("delivered", &delivered)
    guard member != nil else { return }
    try fields.list("read_sequences", &readSequences)
    try fields.list("delivered_sequences", &deliveredSequences)
  }

  /// Returns the local member's marks, given the place of the read mark.
  func marks(readMark: MessagePosition?) -> ExportedMarks {
    var marks = ExportedMarks()
    marks.conversation = conversation
    marks.readMark = readMark
    marks.deliveredMark = deliveredUpTo
    marks.confirmedRead = confirmedRead
    marks.confirmedDelivered = confirmedDelivered
    marks.read = read
    marks.delivered = delivered
    return marks
  }

  /// Returns the receipts of a member.
  func receipts(of member: MemberID) -> ExportedReceipts {
    var receipts = ExportedReceipts()
    receipts.conversation = conversation
    receipts.member = member
    receipts.read = read
    receipts.delivered = delivered
    receipts.readSequences = readSequences
    receipts.deliveredSequences = deliveredSequences
    return receipts
  }
}

/// The place of a mark.
package enum JSONMark: JSONValue, Sendable, Equatable {
  /// At this message, wherever it lies.
  case message(MessageID)
  /// At this place, regardless of whether it holds a message.
  case place(MessagePosition)

  init(_ scanner: inout JSONScanner) throws(StoreToolError) {
    if scanner.peek() == UInt8(ascii: "\"") {
      self = .message(try MessageID(&scanner))
    } else {
      self = .place(try MessagePosition(&scanner))
    }
  }

  func append(to bytes: inout [UInt8]) {
    switch self {
    case .message(let id): id.append(to: &bytes)
    case .place(let position): position.append(to: &bytes)
    }
  }
}

/// An acknowledged place in a thread.
extension MessagePosition: JSONValue {
  init(_ scanner: inout JSONScanner) throws(StoreToolError) {
    let object = try JSONPlace(&scanner)
    self.init(.acknowledged(object.time.microseconds, sequence: object.sequence), object.id)
  }

  func append(to bytes: inout [UInt8]) {
    var object = JSONPlace()
    object.time = Timestamp(microseconds: place.time)
    object.sequence = place.sequence
    object.id = id
    object.append(to: &bytes)
  }
}

private struct JSONPlace: JSONObjectValue {
  static let noun = "a place"
  var time = Timestamp(microseconds: 0)
  var sequence: Int64?
  var id: MessageID = ""

  mutating func visit(_ fields: inout some JSONFieldVisitor) throws(StoreToolError) {
    try fields.required("timestamp_ms", &time)
    try fields.optional("sequence", &sequence)
    try fields.required("id", &id)
  }
}

/// A place that a member has reached, and the time.
extension ExportedStep: JSONObjectValue {
  static var noun: String { "a step" }

  init() { self.init(MessagePosition(.acknowledged(0, sequence: nil), ""), nil) }

  mutating func visit(_ fields: inout some JSONFieldVisitor) throws(StoreToolError) {
    try fields.required("up_to", &position)
    try fields.optional("time_ms", &time)
  }
}

/// A sequence that a member has reached, the time, and the last place up to it.
extension ExportedSequenceStep: JSONObjectValue {
  static var noun: String { "a step up to a sequence" }

  mutating func visit(_ fields: inout some JSONFieldVisitor) throws(StoreToolError) {
    try fields.required("sequence", &sequence)
    try fields.optional("time_ms", &time)
    try fields.optional("up_to", &position)
  }
}

/// A message whose receipt has to be sent to the server by name.
extension ExportedUntold: JSONObjectValue {
  static var noun: String { "an untold message" }

  mutating func visit(_ fields: inout some JSONFieldVisitor) throws(StoreToolError) {
    try fields.required("conversation", &conversation)
    try fields.required("message", &message)
    try fields.required("receipt", &kind)
    try fields.flag("late", &isLate)
  }
}

/// A member's receipt for exactly one message.
extension ExportedReceipt: JSONObjectValue {
  static var noun: String { "a receipt of one message" }

  mutating func visit(_ fields: inout some JSONFieldVisitor) throws(StoreToolError) {
    try fields.required("member", &member)
    try fields.flag("delivered", &isDelivered)
    try fields.optional("delivered_ms", &deliveredAt)
    try fields.flag("read", &isRead)
    try fields.optional("read_ms", &readAt)
  }
}

/// A member's mark that waits for a message.
extension ExportedWaitingMark: JSONObjectValue {
  static var noun: String { "a waiting mark" }

  mutating func visit(_ fields: inout some JSONFieldVisitor) throws(StoreToolError) {
    try fields.required("member", &member)
    try fields.required("receipt", &kind)
    try fields.optional("time_ms", &time)
  }
}
