/// A client's progress through the server's updates, in the client's own format.
///
/// The store does not interpret it.
public struct SyncPosition: Sendable, Hashable {
  /// The client's key for it, 1 to 255 bytes of UTF-8.
  public let key: String
  /// The bytes stored by the client.
  public let bytes: [UInt8]

  /// The most bytes in one position.
  public static let maximumByteCount = 1 << 16

  /// Creates a position, for tests.
  ///
  /// - Parameters:
  ///   - key: The client's key for it.
  ///   - bytes: The bytes stored by the client.
  public init(key: String, bytes: [UInt8]) {
    self.key = key
    self.bytes = bytes
  }

  /// Compares the bytes, also those of the key.
  public static func == (a: SyncPosition, b: SyncPosition) -> Bool {
    a.key.hasSameBytes(as: b.key) && a.bytes == b.bytes
  }
}
