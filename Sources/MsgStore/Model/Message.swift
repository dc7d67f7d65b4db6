/// One message: a value, complete in itself.
public struct Message: Sendable {
  /// Its name, unique in the conversation.
  public var id: MessageID
  // Everything that a getter needs can be inlined where it is used: a screen, or a loop over a slice,
  // then touches a field without a call and without counting references.
  @usableFromInline var origin: Origin
  /// Which of the origin's senders wrote it.
  @usableFromInline var senderIndex: Int32
  /// Its text: any valid UTF-8 up to 1 MiB, kept byte for byte.
  public var text: String
  @usableFromInline var fields: Fields
  @usableFromInline var serverMicroseconds: Int64
  @usableFromInline var localMicroseconds: Int64
  @usableFromInline var sequenceNumber: Int64
  // Not `Rare?`: that is set to nil first, and a message that is set twice is copied once more when
  // it is made, which took a third of the time of reading one.
  @usableFromInline var rare: Optional<Rare>

  /// Where messages come from: shared by all of a slice, so that making one counts one reference.
  @usableFromInline
  final class Origin: Sendable {
    @usableFromInline let conversation: ConversationID
    @usableFromInline let senders: [MemberID]
    init(_ conversation: ConversationID, _ senders: [MemberID]) {
      self.conversation = conversation
      self.senders = senders
    }
  }

  /// The status, and which of the numbers say something: one byte, where a status and three optionals
  /// would take 25.
  @usableFromInline
  struct Fields: Hashable, Sendable {
    @usableFromInline var bits: UInt8

    init(_ status: MessageStatus, serverTime: Bool, localTime: Bool, sequence: Bool) {
      bits =
        status.rawValue | (serverTime ? Field.serverTime.rawValue : 0)
        | (localTime ? Field.localTime.rawValue : 0) | (sequence ? Field.sequence.rawValue : 0)
    }

    @inlinable
    var status: MessageStatus {
      get { MessageStatus(rawValue: bits & 7) ?? .pending }
      set { bits = bits & ~7 | newValue.rawValue }
    }

    @inlinable
    subscript(field: Field) -> Bool {
      get { bits & field.rawValue != 0 }
      set { bits = newValue ? bits | field.rawValue : bits & ~field.rawValue }
    }
  }

  @usableFromInline
  enum Field: UInt8, Sendable {
    case serverTime = 8
    case localTime = 16
    case sequence = 32
  }

  /// What few messages have, out of the way of all the others.
  @usableFromInline
  final class Rare: Sendable {
    @usableFromInline let fields: RareFields
    init(_ fields: RareFields) { self.fields = fields }
  }

  /// A message that is not stored yet.
  ///
  /// - Parameters:
  ///   - id: Its name; a new one by default.
  ///   - conversation: Where it belongs.
  ///   - sender: Who wrote it.
  ///   - text: Up to 1 MiB of UTF-8.
  ///   - localTime: When it was written, by the device's clock. A pending message without one gets
  ///     the time of its insertion.
  ///   - serverTimestamp: When the server took it. A message without one is pending.
  ///   - sequence: The server's number for it in the conversation.
  ///   - status: nil stands for `pending` without a server time and for `sent` with one.
  ///   - replyTo: The message that this one answers; it need not be there.
  ///   - mentions: The members that it names.
  ///   - attachments: What comes with it.
  public init(
    id: MessageID = .random(), in conversation: ConversationID, from sender: MemberID,
    text: String, localTime: Timestamp? = nil, serverTimestamp: Timestamp? = nil,
    sequence: Int64? = nil, status: MessageStatus? = nil, replyTo: MessageID? = nil,
    mentions: [MemberID] = [], attachments: [Attachment] = []
  ) {
    self.id = id
    origin = Origin(conversation, [sender])
    senderIndex = 0
    self.text = text
    fields = Fields(
      status ?? (serverTimestamp == nil ? .pending : .sent), serverTime: serverTimestamp != nil,
      localTime: localTime != nil, sequence: sequence != nil)
    serverMicroseconds = serverTimestamp?.microseconds ?? 0
    localMicroseconds = localTime?.microseconds ?? 0
    sequenceNumber = sequence ?? 0
    rare = nil
    if let replyTo { self.replyTo = replyTo }
    if !mentions.isEmpty { self.mentions = mentions }
    if !attachments.isEmpty { self.attachments = attachments }
  }

  /// All fields as they are.
  @inlinable
  init(
    _ id: MessageID, _ origin: Origin, _ senderIndex: Int32, _ text: String,
    _ fields: Fields, _ serverMicroseconds: Int64, _ localMicroseconds: Int64,
    _ sequenceNumber: Int64, _ rare: Rare?
  ) {
    self.id = id
    self.origin = origin
    self.senderIndex = senderIndex
    self.text = text
    self.fields = fields
    self.serverMicroseconds = serverMicroseconds
    self.localMicroseconds = localMicroseconds
    self.sequenceNumber = sequenceNumber
    self.rare = rare
  }

  /// The conversation it belongs to.
  public var conversation: ConversationID {
    @inlinable get { origin.conversation }
    set { setOrigin(newValue, sender) }
  }

  /// Who wrote it.
  public var sender: MemberID {
    @inlinable get { origin.senders[Int(senderIndex)] }
    set { setOrigin(conversation, newValue) }
  }

  private mutating func setOrigin(_ conversation: ConversationID, _ sender: MemberID) {
    origin = Origin(conversation, [sender])
    senderIndex = 0
  }

  /// How far it has come.
  public var status: MessageStatus {
    @inlinable get { fields.status }
    set { fields.status = newValue }
  }

  /// When the server took it; nil while it is pending.
  public var serverTimestamp: Timestamp? {
    @inlinable get { timestamp(serverMicroseconds, .serverTime) }
    set { serverMicroseconds = set(newValue?.microseconds, .serverTime) }
  }

  /// When it was written, by the clock of the device that wrote it.
  public var localTime: Timestamp? {
    @inlinable get { timestamp(localMicroseconds, .localTime) }
    set { localMicroseconds = set(newValue?.microseconds, .localTime) }
  }

  /// The server's number for it in the conversation.
  public var sequence: Int64? {
    @inlinable get { fields[.sequence] ? sequenceNumber : nil }
    set { sequenceNumber = set(newValue, .sequence) }
  }

  /// The message that this one answers.
  public var replyTo: MessageID? {
    @inlinable get { rare?.fields.replyTo }
    set { setRare(\.replyTo, newValue) }
  }

  /// Its place in the thread, of a message that was read from a store.
  public var position: Position {
    let place: Place =
      fields[.serverTime]
      ? .acknowledged(serverMicroseconds, sequence: sequence)
      : .pending(localMicroseconds, localOrder: localOrder)
    return Position(place, rare?.fields.keyName ?? id)
  }

  private var localOrder: Int64 { rare?.fields.localOrder ?? 0 }

  mutating func setRare<Value>(_ field: WritableKeyPath<RareFields, Value>, _ value: Value) {
    var fields = rare?.fields ?? RareFields()
    fields[keyPath: field] = value
    rare = Rare(fields)
  }

  @inlinable
  func timestamp(_ microseconds: Int64, _ field: Field) -> Timestamp? {
    fields[field] ? Timestamp(microseconds: microseconds) : nil
  }

  private mutating func set(_ value: Int64?, _ field: Field) -> Int64 {
    fields[field] = value != nil
    return value ?? 0
  }
}

extension Message: Hashable {
  /// Equality of all fields and of the place; texts are equal when their bytes are.
  public static func == (a: Message, b: Message) -> Bool {
    a.id == b.id && a.conversation == b.conversation && a.sender == b.sender
      && a.fields == b.fields
      && a.serverMicroseconds == b.serverMicroseconds
      && a.localMicroseconds == b.localMicroseconds && a.sequenceNumber == b.sequenceNumber
      && a.text.hasSameBytes(as: b.text)
      && (a.rare === b.rare || (a.rare?.fields ?? RareFields()) == (b.rare?.fields ?? RareFields()))
  }

  /// Feeds what tells messages apart to a hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(conversation)
    hasher.combine(id)
    hasher.combine(status)
    hasher.combine(serverMicroseconds)
    hasher.combine(sequenceNumber)
  }
}
