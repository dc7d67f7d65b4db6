import MsgStore

/// Writes records as lines of JSON, always the same bytes for the same record.
///
/// Fields stand in one order, nothing is escaped that need not be, there are no blanks, and what a
/// reader would assume anyway is left out. See docs/message-format.md, J-9.
package enum JSONLineWriter {
  /// Appends a line and its line feed.
  package static func append(_ record: JSONRecord, to bytes: inout [UInt8]) {
    var object = JSONObjectWriter()
    switch record {
    case .store(let localMember):
      object.append(.kind, JSONRecord.Kind.store.rawValue, to: &bytes)
      object.append(.localMember, localMember.string, to: &bytes)
    case .conversation(let id, let participants, let title):
      object.append(.kind, JSONRecord.Kind.conversation.rawValue, to: &bytes)
      object.append(.id, id.string, to: &bytes)
      object.append(.participants, participants.map(\.string), to: &bytes)
      if let title { object.append(.title, title, to: &bytes) }
    case .receipt(let conversation, let upTo):
      object.append(.kind, JSONRecord.Kind.receipt.rawValue, to: &bytes)
      object.append(.conversation, conversation.string, to: &bytes)
      if let upTo {
        object.append(.upTo, upTo.string, to: &bytes)
      } else {
        object.appendNull(.upTo, to: &bytes)
      }
    case .message(let message): append(message, to: &bytes, object: &object)
    }
    bytes.append(contentsOf: "}\n".utf8)
  }

  private static func append(
    _ message: Message, to bytes: inout [UInt8], object: inout JSONObjectWriter
  ) {
    object.append(.conversation, message.conversation.string, to: &bytes)
    object.append(.id, message.id.string, to: &bytes)
    object.append(.sender, message.sender.string, to: &bytes)
    object.append(.text, message.text, to: &bytes)
    if let time = message.serverTimestamp {
      object.append(.timestamp, time, to: &bytes)
    } else {
      object.appendNull(.timestamp, to: &bytes)
    }
    if let sequence = message.sequence { object.append(.sequence, sequence, to: &bytes) }
    if let time = message.localTime { object.append(.localTime, time, to: &bytes) }
    let assumedStatus: MessageStatus = message.serverTimestamp == nil ? .pending : .sent
    if message.status != assumedStatus {
      object.append(.status, message.status.name, to: &bytes)
    }
    if let replyTo = message.replyTo { object.append(.replyTo, replyTo.string, to: &bytes) }
  }
}

/// Writes the fields of one object.
private struct JSONObjectWriter {
  private var isEmpty = true

  mutating func append(_ field: JSONField, _ string: String, to bytes: inout [UInt8]) {
    appendName(field, to: &bytes)
    Self.append(string, to: &bytes)
  }

  mutating func append(_ field: JSONField, _ strings: [String], to bytes: inout [UInt8]) {
    appendName(field, to: &bytes)
    bytes.append(UInt8(ascii: "["))
    for (index, string) in strings.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      Self.append(string, to: &bytes)
    }
    bytes.append(UInt8(ascii: "]"))
  }

  mutating func append(_ field: JSONField, _ number: Int64, to bytes: inout [UInt8]) {
    appendName(field, to: &bytes)
    bytes.append(contentsOf: String(number).utf8)
  }

  /// Milliseconds, with a fraction only when there is one.
  mutating func append(_ field: JSONField, _ time: Timestamp, to bytes: inout [UInt8]) {
    appendName(field, to: &bytes)
    let (milliseconds, fraction) = time.microseconds.magnitude.quotientAndRemainder(
      dividingBy: 1000)
    if time.microseconds < 0 { bytes.append(UInt8(ascii: "-")) }
    bytes.append(contentsOf: String(milliseconds).utf8)
    guard fraction != 0 else { return }
    // The thousand in front keeps the zeros that the fraction begins with.
    var digits = Array(String(1000 + fraction).utf8.dropFirst())
    while digits.last == UInt8(ascii: "0") { digits.removeLast() }
    bytes.append(UInt8(ascii: "."))
    bytes.append(contentsOf: digits)
  }

  mutating func appendNull(_ field: JSONField, to bytes: inout [UInt8]) {
    appendName(field, to: &bytes)
    bytes.append(contentsOf: "null".utf8)
  }

  private mutating func appendName(_ field: JSONField, to bytes: inout [UInt8]) {
    bytes.append(isEmpty ? UInt8(ascii: "{") : UInt8(ascii: ","))
    isEmpty = false
    Self.append(field.name, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
  }

  private static func append(_ string: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    for byte in string.utf8 {
      switch byte {
      case UInt8(ascii: "\""): bytes.append(contentsOf: #"\""#.utf8)
      case UInt8(ascii: "\\"): bytes.append(contentsOf: #"\\"#.utf8)
      case UInt8(ascii: "\n"): bytes.append(contentsOf: #"\n"#.utf8)
      case UInt8(ascii: "\r"): bytes.append(contentsOf: #"\r"#.utf8)
      case UInt8(ascii: "\t"): bytes.append(contentsOf: #"\t"#.utf8)
      case 0..<0x20:
        let digits = String(byte, radix: 16)
        bytes.append(contentsOf: (byte < 0x10 ? #"\u000"# : #"\u00"#).utf8)
        bytes.append(contentsOf: digits.utf8)
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
