/// How far a client has come in what a server tells, as the client itself writes it down.
///
/// The store does not look into it.
public struct SyncPosition: Sendable, Hashable {
  /// The client's name for it, 1 to 255 bytes of UTF-8.
  public let key: String
  /// What the client has stored.
  public let bytes: [UInt8]

  /// The most bytes that one may have.
  public static let byteCountMax = 1 << 16

  /// Equality of the bytes, also of those of the key.
  public static func == (a: SyncPosition, b: SyncPosition) -> Bool {
    a.key.hasSameBytes(as: b.key) && a.bytes == b.bytes
  }
}
