/// A field of the client's own: bytes under a name, which the store keeps and does not interpret.
///
/// A message, a conversation, and a member may have up to ``maximumCount`` of them, and a kind: a
/// short word such as `call`. They follow exports, restores, and moves, and are erased with their
/// message or by ``StoreWriter/forgetMember(_:)``.
///
/// Each field is merged by itself. Of two statements about a field the one with the later time
/// counts, and one without a time, which came with the message, before all others. Of equal times
/// the longer value counts, of equal lengths the one with the greater bytes, of equal bytes the
/// shared one; a removal counts least. So the order in which statements are received makes no
/// difference.
public struct OwnField: Sendable, Hashable {
  /// The most fields of one owner: those of the least names stay if more are received, removed
  /// ones included.
  public static let maximumCount = 16
  /// The most bytes of UTF-8 in a name.
  public static let maximumNameByteCount = 64
  /// The most bytes of UTF-8 in a kind.
  public static let maximumKindByteCount = 64
  /// The most bytes of all names and values that are received at once, or set here in all.
  public static let maximumByteCount = 65_536
  /// The most bytes of a value that lies with its message.
  ///
  /// Slices and messages leave out longer values: see ``isOmitted``.
  public static let maximumPackedByteCount = 256

  /// The name; empty in a statement about the kind.
  public let name: String
  /// The value; nil if the field was removed, or if ``isOmitted``.
  public let value: [UInt8]?
  /// The number of bytes of the value, also of one that is left out.
  public let byteCount: Int
  /// The time of the value; nil if it came with the message.
  public let time: Timestamp?
  /// True if the field is this member's alone and the server is never told of it.
  public let isLocal: Bool
  let content: OwnRegister.Content
  /// True if this is a statement about the kind.
  let isKind: Bool

  /// Creates a field.
  ///
  /// - Parameters:
  ///   - name: The name: 1 to ``maximumNameByteCount`` bytes of UTF-8, compared by its bytes.
  ///   - value: The value; nil removes the field.
  ///   - time: The server's time of the value; nil if it came with the message.
  ///   - isLocal: True if the server is not to be told of it.
  public init(
    _ name: String, _ value: [UInt8]?, at time: Timestamp? = nil, isLocal: Bool = false
  ) {
    self.init(
      OwnRegister(
        name: Array(name.utf8), time: time?.microseconds, isLocal: isLocal,
        content: value.map { .value($0) } ?? .removed),
      isKind: false)
  }

  /// Returns a statement about the kind, for ``StoreWriter/receive(_:of:)``.
  ///
  /// - Parameters:
  ///   - kind: 1 to ``maximumKindByteCount`` bytes of UTF-8; nil is a plain one.
  ///   - time: The server's time of the kind; nil if it came with the message.
  public static func kind(_ kind: String?, at time: Timestamp? = nil) -> OwnField {
    OwnField(OwnRegister(kind: kind, time: time?.microseconds), isKind: true)
  }

  init(_ register: OwnRegister, isKind: Bool) {
    name = String(decoding: register.name, as: UTF8.self)
    content = register.content
    value = if case .value(let bytes) = register.content { bytes } else { nil }
    byteCount = register.content.byteCount
    time = register.time.map { Timestamp(microseconds: $0) }
    isLocal = register.isLocal
    self.isKind = isKind
  }

  /// True if the value has more than ``maximumPackedByteCount`` bytes and was left out:
  /// ``StoreReading/ownFields(of:)`` has it.
  ///
  /// A message with such a field can be inserted again; the field is passed over.
  public var isOmitted: Bool { if case .large = content { true } else { false } }

  /// The value as text, or nil if it is not valid UTF-8, removed, or left out.
  public var text: String? { value.flatMap { String(validating: $0, as: UTF8.self) } }

  /// True if the field was removed.
  public var isRemoved: Bool { content == .removed }

  var register: OwnRegister {
    OwnRegister(
      name: Array(name.utf8), time: time?.microseconds, isLocal: isLocal, content: content)
  }

  /// Compares the bytes of names and values.
  public static func == (a: OwnField, b: OwnField) -> Bool {
    a.isKind == b.isKind && a.register == b.register
  }

  /// Hashes the bytes of the name, the time, and the value.
  public func hash(into hasher: inout Hasher) { hasher.combine(register) }
}
