import MsgStore
import MsgStoreTools
import PageFile

/// Decodes bytes as each kind of record and key.
///
///  1. Any bytes are a record or none.
///  2. What was read is written so that it reads the same again.
enum RecordCodecs {
  static func run(_ bytes: [UInt8]) throws(BrokenPromise) {
    for tree in 0..<Roots.maximumCount { _ = SchemaReport.describeKey(bytes, tree: tree) }
    try Bytes.with(bytes) { (bytes) throws(BrokenPromise) in
      try message(bytes)
      try traits(bytes)
      try summary(bytes)
      try details(bytes)
      try members(bytes)
      try membership(bytes)
      _ = DraftRecord(bytes)
      try profile(bytes)
      try ownField(bytes)
      try ownFields(bytes)
      try work(bytes)
      try position(bytes)
      try receipts(bytes)
    }
  }

  private static func message(_ bytes: Bytes) throws(BrokenPromise) {
    guard let record = MessageRecord(bytes) else { return }
    var text = ByteBuffer()
    if !record.appendText(to: &text) {
      try promise(text.count == 0, "a text that cannot be read has left something")
    }
    _ = record.replyTo
    try traits(record.traitsBytes)
    _ = record.localTime(at: .acknowledged(.min, sequence: nil))
    var written = ByteBuffer()
    record.append(to: &written)
    guard let again = MessageRecord(written.bytes) else {
      throw BrokenPromise("a message that was read and written cannot be read")
    }
    var writtenAgain = ByteBuffer()
    again.append(to: &writtenAgain)
    try promise(
      written.bytes.compare(to: writtenAgain.bytes) == 0, "a message reads otherwise again")
  }

  private static func traits(_ bytes: Bytes) throws(BrokenPromise) {
    guard let traits = MessageTraits(bytes) else { return }
    var written = ByteBuffer()
    traits.append(to: &written)
    try promise(MessageTraits(written.bytes) == traits, "traits read otherwise again")
  }

  private static func profile(_ bytes: Bytes) throws(BrokenPromise) {
    guard let profile = ProfileRecord(bytes) else { return }
    var written = ByteBuffer()
    profile.append(to: &written)
    try promise(ProfileRecord(written.bytes) == profile, "a profile reads otherwise again")
  }

  private static func ownField(_ bytes: Bytes) throws(BrokenPromise) {
    guard let field = OwnFieldRecord(bytes) else { return }
    var written = ByteBuffer()
    field.append(to: &written)
    try promise(OwnFieldRecord(written.bytes) == field, "an own field reads otherwise again")
  }

  private static func ownFields(_ bytes: Bytes) throws(BrokenPromise) {
    guard let fields = MemberFields(bytes) else { return }
    var written = ByteBuffer()
    fields.append(to: &written)
    try promise(MemberFields(written.bytes) == fields, "own fields read otherwise again")
  }

  private static func summary(_ bytes: Bytes) throws(BrokenPromise) {
    guard let summary = ConversationSummary(bytes) else { return }
    var written = ByteBuffer()
    summary.append(to: &written)
    try promise(ConversationSummary(written.bytes) == summary, "a summary reads otherwise again")
  }

  private static func details(_ bytes: Bytes) throws(BrokenPromise) {
    guard let details = ConversationDetails(bytes) else { return }
    var written = ByteBuffer()
    details.append(to: &written)
    try promise(ConversationDetails(written.bytes) == details, "details read otherwise again")
  }

  private static func members(_ bytes: Bytes) throws(BrokenPromise) {
    guard let members = ConversationMembers(bytes) else { return }
    var written = ByteBuffer()
    members.append(to: &written)
    try promise(ConversationMembers(written.bytes) == members, "members read otherwise again")
  }

  private static func membership(_ bytes: Bytes) throws(BrokenPromise) {
    guard let membership = MembershipRecord(bytes) else { return }
    var written = ByteBuffer()
    membership.append(to: &written)
    try promise(MembershipRecord(written.bytes) == membership, "a membership reads otherwise again")
  }

  private static func work(_ bytes: Bytes) throws(BrokenPromise) {
    guard let work = WorkRecord(bytes) else { return }
    var written = ByteBuffer()
    work.append(to: &written)
    try promise(WorkRecord(written.bytes) == work, "work reads otherwise again")
  }

  private static func receipts(_ bytes: Bytes) throws(BrokenPromise) {
    if let record = ReceiptRecord(bytes) {
      var written = ByteBuffer()
      record.append(to: &written)
      try promise(ReceiptRecord(written.bytes) == record, "receipts read otherwise again")
    }
    if let record = ConversationReceipts(bytes) {
      var written = ByteBuffer()
      record.append(to: &written)
      try promise(
        ConversationReceipts(written.bytes) == record,
        "a conversation's receipts read otherwise again")
    }
    if let receipt = ExactReceipt(bytes) {
      var written = ByteBuffer()
      receipt.append(to: &written)
      try promise(ExactReceipt(written.bytes) == receipt, "a receipt reads otherwise again")
    }
  }

  private static func position(_ bytes: Bytes) throws(BrokenPromise) {
    guard let position = bytes.position else { return }
    let key = KeyEncoding.key(7, position)
    try promise(
      key.bytes.dropFirst(4).position == position, "a position reads otherwise again")
  }
}
