import Foundation
import MsgStore
import Testing

/// The tables of docs/message-format.md that say how records are laid out: they come from the
/// declarations in the code.
///
/// `MSGSTORE_DRAW=1` writes them.
struct FormatTablesTests {
  private static let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../../docs/message-format.md").standardizedFileURL

  @Test(arguments: RecordLayout.all) func theTableIsThatOfTheDeclaration(_ layout: RecordLayout)
    throws
  {
    let text = try String(contentsOf: Self.page, encoding: .utf8)
    let start = "<!-- layout of \(layout.name), written by FormatTablesTests -->\n"
    let opening = try #require(text.range(of: start), "no table of \(layout.name)")
    let closing = try #require(
      text.range(of: "<!-- end of layout -->\n", range: opening.upperBound..<text.endIndex))
    let table = opening.upperBound..<closing.lowerBound
    if ProcessInfo.processInfo.environment["MSGSTORE_DRAW"] == "1" {
      let written = text.replacingCharacters(in: table, with: layout.table)
      try written.write(to: Self.page, atomically: true, encoding: .utf8)
    } else {
      #expect(text[table] == layout.table, "another layout of \(layout.name); MSGSTORE_DRAW=1")
    }
  }
}

/// The layout of one kind of record.
struct RecordLayout: CustomTestStringConvertible {
  struct Row: Equatable {
    var size: String
    var field: String
  }

  let name: String
  private(set) var rows: [Row] = []
  /// All that a record has, by the names that `FieldNames` gives.
  private(set) var names: Set<String> = []

  var testDescription: String { name }

  /// Describes one record, or several that together have every field.
  init<Record: FieldRecord>(_ records: Record...) {
    name = "\(Record.self)"
    for var record in records {
      var describer = FieldDescriber()
      record.visit(&describer)
      merge(describer.rows)
      names.formUnion(FieldNames.all(of: record))
    }
  }

  /// Inserts each row that is new before the next one that was there.
  private mutating func merge(_ others: [Row]) {
    var index = 0
    var new: [Row] = []
    for row in others {
      if let known = rows[index...].firstIndex(of: row) {
        rows.insert(contentsOf: new, at: known)
        index = known + new.count + 1
        new = []
      } else {
        new.append(row)
      }
    }
    rows += new
  }

  var table: String {
    rows.reduce(into: "| size | field |\n|---:|---|\n") { $0 += "| \($1.size) | \($1.field) |\n" }
  }

  static let all: [RecordLayout] = [
    RecordLayout(ConversationName()),
    RecordLayout(SendFailure()),
    RecordLayout(ReactionRecord()),
    RecordLayout(EmojiCountRecord()),
    RecordLayout(TagRecord()),
    RecordLayout(WaitingFacts()),
    RecordLayout(AttachmentRecord()),
    RecordLayout(OwnFieldRecord()),
    transfers,
    summary,
    RecordLayout(ConversationDetails()),
    RecordLayout(TextRegister()),
    members,
    RecordLayout(MembershipRecord()),
    RecordLayout(Roster()),
    RecordLayout(DraftRecord()),
    work,
    entries,
    subjects,
    RecordLayout(OutboxLane()),
    RecordLayout(OutboxRelease()),
    RecordLayout(ReceiptRecord()),
    RecordLayout(ReceiptSteps()),
    RecordLayout(ExactReceipt()),
    RecordLayout(WaitingMark()),
    RecordLayout(ConversationReceipts()),
    RecordLayout(ProfileRecord()),
    RecordLayout(RetentionRecord()),
    RecordLayout(ConversationFields()),
    RecordLayout(MemberFields()),
  ]

  private init(name: String, _ parts: [RecordLayout]) {
    self.name = name
    for part in parts {
      merge(part.rows)
      names.formUnion(part.names)
    }
  }

  private static var transfers: RecordLayout {
    RecordLayout(name: "AttachmentTransfer", AttachmentTransfer.cases.map { RecordLayout($0) })
  }

  private static var summary: RecordLayout {
    var record = ConversationSummary()
    record.last = ConversationSummary.Last(
      position: MessagePosition(.acknowledged(0, sequence: nil), ""), sender: 0, status: .pending,
      text: "")
    record.last?.attachment = PreviewAttachment(kind: .other, fileName: "", thumbnail: "")
    return RecordLayout(record)
  }

  private static var members: RecordLayout {
    var record = ConversationMembers()
    record.merge(.init(1, time: 0, isActive: true, joinedAt: 0))
    return RecordLayout(record)
  }

  private static var work: RecordLayout {
    let records = WorkRecord.Kind.cases.map { WorkRecord($0, of: 0) }
    return RecordLayout(name: "WorkRecord", records.map { RecordLayout($0) })
  }

  private static var entries: RecordLayout {
    let records = (1...6).compactMap { OutboxRecord.State(code: $0) }.map { state in
      var record = OutboxRecord()
      record.state = state
      return RecordLayout(record)
    }
    return RecordLayout(name: "OutboxRecord", records)
  }

  /// The fields of each kind of subject that has any, behind its code.
  private static var subjects: RecordLayout {
    var all = RecordLayout(name: "OutboxSubject", [])
    for subject in OutboxKind.allCases.map(OutboxSubject.init) {
      let layout = RecordLayout(subject)
      all.names.formUnion(layout.names)
      for row in layout.rows {
        let field = "kind \(subject.kind.rawValue): \(row.field)"
        all.rows.append(Row(size: row.size, field: field))
      }
    }
    return all
  }
}

/// Describes the fields of a record, one row each.
struct FieldDescriber: FieldVisitor {
  private(set) var rows: [RecordLayout.Row] = []
  /// The flag that guards the next field.
  private var flag: UInt64?
  private var isInElement = false

  private mutating func add(_ size: String, _ field: String) {
    let condition = flag.map { "with flag \($0): " } ?? ""
    flag = nil
    rows.append(.init(size: size, field: (isInElement ? "– " : "") + condition + field))
  }

  /// Returns the sizes of varints up to a number.
  private func size(_ maximum: UInt64) -> String {
    let byteCount = max(1, (70 - maximum.leadingZeroBitCount) / 7)
    return byteCount == 1 ? "1" : "1–\(byteCount)"
  }

  mutating func fixed<T: FixedWidthInteger>(_ value: inout T, _ field: StaticString) {
    add("\(T.bitWidth / 8)", "\(field)" == "tag" ? "tag: \(value)" : "\(field)")
  }

  mutating func varint<T: FixedWidthInteger>(
    _ value: inout T, maximum: T, _ field: StaticString
  ) {
    add(size(UInt64(maximum)), "\(field), varint")
  }

  mutating func signedVarint<T: FixedWidthInteger & SignedInteger>(
    _ value: inout T, _ field: StaticString
  ) {
    add(size(UInt64(T.Magnitude.max)), "\(field), signed varint")
  }

  mutating func bytes<T: FieldBytes>(
    _ value: inout T, _ length: FieldLength, in byteCounts: ClosedRange<Int>,
    _ field: StaticString
  ) {
    let isLimited = byteCounts.upperBound < .max && byteCounts.upperBound != 255
    let limit = isLimited ? ", at most \(byteCounts.upperBound) bytes" : ""
    switch length {
    case .byte: add("1 + n", "\(field), its byte count first" + limit)
    case .uint16: add("2 + n", "\(field), its byte count first" + limit)
    case .uint32: add("4 + n", "\(field), its byte count first" + limit)
    case .varint:
      let prefix = size(UInt64(byteCounts.upperBound))
      add("\(prefix) + n", "\(field), its byte count first, varint" + limit)
    case .rest: add("…", "\(field), up to the end" + limit)
    }
  }

  mutating func part<T: FieldRecord>(_ value: inout T, _ field: StaticString) {
    add("…", "\(field)")
  }

  mutating func elements<T>(
    _ elements: inout [T], of empty: T, count: Int, _ field: StaticString,
    _ visit: (inout Self, inout T) -> Void
  ) {
    add("", "each of \(field):")
    isInElement = true
    var element = elements.first ?? empty
    visit(&self, &element)
    isInElement = false
  }

  mutating func flags(_ length: FieldLength) {
    switch length {
    case .uint16: add("2", "flags")
    case .varint: add("1–2", "flags, varint")
    default: add("1", "flags")
    }
  }

  mutating func has(_ flag: UInt64, _ isSet: Bool) -> Bool {
    self.flag = flag
    return true
  }

  mutating func bits(_ mask: UInt64, _ set: UInt64) -> UInt64 { set }

  /// Describes what follows, too.
  mutating func follows(_ isSet: Bool, _ field: StaticString) -> Bool {
    add("1", "\(field)")
    return true
  }

  mutating func lastMark(_ isSet: inout Bool, _ field: StaticString) {
    add("1", "\(field), else missing")
  }

  mutating func zeros() { add("…", "zeros up to the end") }

  mutating func require(_ isValid: @autoclosure () -> Bool) {}
}
