import MsgStore
import PageFile

/// Readable forms of the records in cells, for tools that show pages.
package enum RecordReport {
  /// The bytes of a message's text that are shown.
  private static let maximumTextByteCount = 60

  /// Returns a readable form of a record; accepts any bytes.
  ///
  /// - Parameters:
  ///   - key: The key of the cell.
  ///   - value: The whole value of the cell.
  package static func describe(_ key: [UInt8], _ value: [UInt8], tree: Int) -> String {
    guard !value.isEmpty else { return "" }
    return Bytes.with(key) { key in
      Bytes.with(value) { value in
        record(key, value, TreeNumber(tree)) ?? FieldDescriber.hexadecimal(value)
      }
    }
  }

  private static func record(_ key: Bytes, _ value: Bytes, _ tree: TreeNumber) -> String? {
    if let type = Schema.recordType(key, in: tree) { return fields(type, value) }
    switch tree {
    case Schema.messages: return segment(value) ?? message(value)
    case Schema.beside: return message(value)
    case Schema.ids: return entry(key, value)
    case Schema.facts: return fact(key, value)
    case Schema.settings:
      guard value.count == 8 else { return "\(value.count) bytes of a dictionary" }
      return FieldDescriber.describe(UInt64.self, value)
    case Schema.names: return name(key, value)
    case Schema.index where key.indexKind == .member && value.isValidUTF8:
      return "\"\(value.repairedText())\""
    case Schema.conversations:
      return KnownSequences.run(key, value).map { "\($0.lowerBound)…\($0.upperBound)" }
    default: return nil
    }
  }

  private static func fields<Record: FieldRecord>(_ type: Record.Type, _ value: Bytes) -> String? {
    FieldDescriber.describe(type, value)
  }

  private static func segment(_ value: Bytes) -> String? {
    let text = SegmentReport.describe(value.array(), tree: Schema.messages.rawValue)
    return text.isEmpty ? nil : text
  }

  private static func message(_ value: Bytes) -> String? {
    guard let record = MessageRecord(value) else { return nil }
    let text =
      record.flags.contains(.compressed)
      ? "\(record.textByteCount) bytes of text in \(record.payload.count)"
      : "text \"\(beginning(record.payload))\""
    return "sender \(record.sender), status \(record.status), \(text)"
  }

  private static func beginning(_ text: Bytes) -> String {
    guard text.count > maximumTextByteCount else { return text.repairedText() }
    return text.slice(0, maximumTextByteCount).repairedText() + "…"
  }

  private static func entry(_ key: Bytes, _ value: Bytes) -> String? {
    guard key.count > KeyEncoding.numberByteCount else { return nil }
    switch IDEntry(MessageID(key.dropFirst(KeyEncoding.numberByteCount)), value) {
    case .here(let position):
      let sequence = position.place.sequence.map { ", sequence \($0)" } ?? ""
      return "\"\(position.id)\" at \(position.place.time) µs\(sequence)"
    case .deleted: return "deleted"
    case .alias(let name): return "another name of \"\(name)\""
    case nil: return nil
    }
  }

  private static func fact(_ key: Bytes, _ value: Bytes) -> String? {
    guard let (_, _, kind, rest) = FactKey.parts(key) else { return nil }
    switch kind {
    case .version:
      return VersionRecord.version(rest, value).map { version in
        Bytes.with(Array(version.text.utf8)) { "text \"\(beginning($0))\"" }
      }
    case .reaction, .removedReaction:
      return FieldDescriber.describe(ReactionRecord.self, value)
    case .emojiCount: return FieldDescriber.describe(EmojiCountRecord.self, value)
    case .emojiRank: return nil
    case .attachment: return FieldDescriber.describe(AttachmentRecord.self, value)
    case .receipt: return FieldDescriber.describe(ExactReceipt.self, value)
    case .tag: return FieldDescriber.describe(TagRecord.self, value)
    case .waiting: return FieldDescriber.describe(WaitingFacts.self, value)
    case .waitingMark: return FieldDescriber.describe(WaitingMark.self, value)
    case .ownField: return FieldDescriber.describe(OwnFieldRecord.self, value)
    }
  }

  private static func name(_ key: Bytes, _ value: Bytes) -> String? {
    switch NameKey.parts(key)?.kind {
    case .conversation: FieldDescriber.describe(ConversationName.self, value)
    case .member: FieldDescriber.describe(UInt32.self, value)
    case .participants, nil: nil
    }
  }
}
