/// One message: a value, complete in itself.
public struct Message: Sendable, Identifiable {
  /// The identifier, unique in the conversation.
  public var id: MessageID
  // Everything that a getter needs is inlinable. A screen, or a loop over a slice, then reads a
  // field without a call and without reference counting.
  @usableFromInline var origin: Origin
  /// The index of the author among the origin's senders.
  @usableFromInline var senderIndex: Int32
  /// The index of the rare fields among those that the origin decodes when they are asked for, or
  /// -1; then `ownRare` has them.
  @usableFromInline var rareIndex: Int32
  /// The text: any valid UTF-8 up to 1 MiB, kept byte for byte.
  public var text: String
  @usableFromInline var fields: Fields
  @usableFromInline var serverMicroseconds: Int64
  @usableFromInline var localMicroseconds: Int64
  @usableFromInline var sequenceNumber: Int64
  /// The name of the answered message if `Field.reply` is set; a long one is among the rare fields.
  @usableFromInline var replyWords: MessageID.Words
  // Not `Rare?`: that would first be set to nil, and a message initialised twice is copied once
  // more when it is made, which took a third of the time of reading one.
  @usableFromInline var ownRare: Optional<Rare>

  /// The conversation and the senders with their profiles, shared by all messages of a slice so
  /// that making a message counts one reference.
  @usableFromInline
  final class Origin: Sendable {
    @usableFromInline let conversation: ConversationID
    @usableFromInline let senders: [MemberID]
    /// The profiles of the senders, at the same indices; empty in a store without profiles.
    private let profiles: [MemberProfile?]
    let rares: (any RareSource)?

    init(
      _ conversation: ConversationID, _ senders: [MemberID], _ profiles: [MemberProfile?] = [],
      rares: (any RareSource)? = nil
    ) {
      self.conversation = conversation
      self.senders = senders
      self.profiles = profiles
      self.rares = rares
    }

    /// Returns the profile of a sender, or nil without one.
    func profile(at index: Int32) -> MemberProfile? {
      profiles.isEmpty ? nil : profiles[Int(index)]
    }

    /// True if no sender has a profile.
    var hasNoProfiles: Bool { profiles.isEmpty }

    /// Returns the rare fields of a message of the slice, or nil if the index is -1.
    @usableFromInline @inline(never)
    func rare(at index: Int32) -> Rare? {
      index < 0 ? nil : rares?.rare(at: Int(index))
    }
  }

  /// The status, and which of the numbers are valid, in one byte.
  ///
  /// A status and three optionals would take 25 bytes.
  @usableFromInline
  struct Fields: Hashable, Sendable {
    @usableFromInline var bits: UInt8

    init(
      _ status: MessageStatus, serverTime: Bool, localTime: Bool, sequence: Bool, reply: Bool
    ) {
      bits =
        status.rawValue | (serverTime ? Field.serverTime.rawValue : 0)
        | (localTime ? Field.localTime.rawValue : 0) | (sequence ? Field.sequence.rawValue : 0)
        | (reply ? Field.reply.rawValue : 0)
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
    case reply = 64
  }

  /// The box around the rare fields, which keeps them out of the way of all other messages.
  @usableFromInline
  final class Rare: Sendable {
    @usableFromInline let fields: RareFields
    init(_ fields: RareFields) { self.fields = fields }
  }

  /// Creates a message that is not stored yet.
  ///
  /// - Parameters:
  ///   - id: The identifier; a new one by default.
  ///   - conversation: The conversation of the message.
  ///   - sender: The author.
  ///   - text: Up to 1 MiB of UTF-8.
  ///   - localTime: The time of writing, by the device's clock. A pending message without one gets
  ///     the time of its insertion.
  ///   - serverTimestamp: The time at which the server accepted the message. A message without one
  ///     is pending.
  ///   - sequence: The server's number for the message in its conversation.
  ///   - status: The delivery status; nil means `pending` without a server time and `sent` with
  ///     one.
  ///   - replyTo: The message that this one answers; it need not exist.
  ///   - mentions: The members that the message mentions.
  ///   - attachments: The attachments.
  public init(
    id: MessageID = .random(), in conversation: ConversationID, from sender: MemberID,
    text: String, localTime: Timestamp? = nil, serverTimestamp: Timestamp? = nil,
    sequence: Int64? = nil, status: MessageStatus? = nil, replyTo: MessageID? = nil,
    mentions: [MemberID] = [], attachments: [MessageAttachment] = []
  ) {
    self.id = id
    origin = Origin(conversation, [sender])
    senderIndex = 0
    rareIndex = -1
    self.text = text
    fields = Fields(
      status ?? (serverTimestamp == nil ? .pending : .sent), serverTime: serverTimestamp != nil,
      localTime: localTime != nil, sequence: sequence != nil, reply: false)
    serverMicroseconds = serverTimestamp?.microseconds ?? 0
    localMicroseconds = localTime?.microseconds ?? 0
    sequenceNumber = sequence ?? 0
    replyWords = MessageID.noWords
    ownRare = nil
    if let replyTo { self.replyTo = replyTo }
    if !mentions.isEmpty { self.mentions = mentions }
    if !attachments.isEmpty { self.attachments = attachments }
  }

  /// Creates a message from all its stored fields.
  @inlinable
  init(
    _ id: MessageID, _ origin: Origin, _ senderIndex: Int32, _ text: String,
    _ fields: Fields, _ serverMicroseconds: Int64, _ localMicroseconds: Int64,
    _ sequenceNumber: Int64, _ replyWords: MessageID.Words, _ rareIndex: Int32, _ rare: Rare?
  ) {
    self.id = id
    self.origin = origin
    self.senderIndex = senderIndex
    self.text = text
    self.fields = fields
    self.serverMicroseconds = serverMicroseconds
    self.localMicroseconds = localMicroseconds
    self.sequenceNumber = sequenceNumber
    self.replyWords = replyWords
    self.rareIndex = rareIndex
    ownRare = rare
  }

  /// The conversation of the message.
  public var conversation: ConversationID {
    @inlinable get { origin.conversation }
    set { setOrigin(newValue, sender) }
  }

  /// The author.
  public var sender: MemberID {
    @inlinable get { origin.senders[Int(senderIndex)] }
    set { setOrigin(conversation, newValue) }
  }

  /// The name and the picture of the author, as of the snapshot that the message was read from.
  ///
  /// Nil if the store had no profile of the author then, and for a message that was not read from a
  /// store or got another conversation or author since. It is no part of the message: equal
  /// messages may have different ones.
  public var senderProfile: MemberProfile? { origin.profile(at: senderIndex) }

  private mutating func setOrigin(_ conversation: ConversationID, _ sender: MemberID) {
    ownRare = rare
    rareIndex = -1
    origin = Origin(conversation, [sender])
    senderIndex = 0
  }

  /// The delivery status.
  public var status: MessageStatus {
    @inlinable get { fields.status }
    set { fields.status = newValue }
  }

  /// The time at which the server accepted the message; nil while it is pending.
  public var serverTimestamp: Timestamp? {
    @inlinable get { timestamp(serverMicroseconds, .serverTime) }
    set { serverMicroseconds = set(newValue?.microseconds, .serverTime) }
  }

  /// The time of writing, by the clock of the author's device.
  public var localTime: Timestamp? {
    @inlinable get { timestamp(localMicroseconds, .localTime) }
    set { localMicroseconds = set(newValue?.microseconds, .localTime) }
  }

  /// The server's number for the message in its conversation.
  public var sequence: Int64? {
    @inlinable get { fields[.sequence] ? sequenceNumber : nil }
    set { sequenceNumber = set(newValue, .sequence) }
  }

  /// The message that this one answers.
  public var replyTo: MessageID? {
    @inlinable get {
      fields[.reply] ? MessageID(words: replyWords) : ownRare?.fields.longReply
    }
    set {
      let isInline = newValue != nil && newValue?.long == nil
      fields[.reply] = isInline
      replyWords = isInline ? newValue?.words ?? MessageID.noWords : MessageID.noWords
      let longReply = isInline ? nil : newValue
      if longReply != ownRare?.fields.longReply { setRare(\.longReply, longReply) }
    }
  }

  /// The server's own id of the message, if it is known by another one than `id`.
  ///
  /// Told by `StoreWriter.acknowledge`. If the server has told several, the least of them. Both ids
  /// lead to the message.
  public var serverName: MessageID? { ownRare?.fields.keyName }

  /// The position in the thread; valid for messages read from a store.
  public var position: MessagePosition {
    let place: Place =
      fields[.serverTime]
      ? .acknowledged(serverMicroseconds, sequence: sequence)
      : .pending(localMicroseconds, localOrder: localOrder)
    return MessagePosition(place, ownRare?.fields.keyName ?? id)
  }

  private var localOrder: Int64 { ownRare?.fields.localOrder ?? 0 }

  mutating func setRare<Value>(_ field: WritableKeyPath<RareFields, Value>, _ value: Value) {
    var fields = rare?.fields ?? RareFields()
    fields[keyPath: field] = value
    ownRare = Rare(fields)
    rareIndex = -1
  }

  /// The rare fields, or nil if they have their defaults.
  @usableFromInline var rare: Rare? {
    @inlinable get { rareIndex < 0 ? ownRare : origin.rare(at: rareIndex) }
  }

  private func hasSameRareFields(as other: Message) -> Bool {
    if origin === other.origin, rareIndex >= 0, rareIndex == other.rareIndex { return true }
    let (own, theirs) = (rare, other.rare)
    return own === theirs || (own?.fields ?? RareFields()) == (theirs?.fields ?? RareFields())
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
  /// Compares all fields and the place; texts are equal if their bytes are.
  public static func == (a: Message, b: Message) -> Bool {
    a.id == b.id && a.conversation == b.conversation && a.sender == b.sender
      && a.fields == b.fields
      && a.serverMicroseconds == b.serverMicroseconds
      && a.localMicroseconds == b.localMicroseconds && a.sequenceNumber == b.sequenceNumber
      && a.replyWords == b.replyWords
      && a.text.hasSameBytes(as: b.text)
      && a.hasSameRareFields(as: b)
  }

  /// Hashes the fields that usually distinguish messages.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(conversation)
    hasher.combine(id)
    hasher.combine(status)
    hasher.combine(serverMicroseconds)
    hasher.combine(sequenceNumber)
  }
}
