/// The failure of one attempt to send something or to transfer an attachment.
public struct SendFailure: Sendable {
  /// The most UTF-8 bytes kept of a text.
  public static let maximumTextByteCount = 1024

  /// The kind of failure, on which a client can act.
  public let kind: FailureKind
  /// The number given by the server or the system, such as an HTTP status.
  public let code: Int64?
  /// A description for people, of at most `maximumTextByteCount` bytes.
  public let text: String

  /// Creates a failure.
  ///
  /// A text that is too long is cut after the last whole Unicode scalar that fits.
  public init(_ kind: FailureKind, code: Int64? = nil, text: String = "") {
    self.kind = kind
    self.code = code
    self.text = Self.beginning(of: text)
  }

  private static func beginning(of text: String) -> String {
    let bytes = text.utf8
    guard bytes.count > maximumTextByteCount else { return text }
    let end = bytes.index(bytes.startIndex, offsetBy: maximumTextByteCount)
    // Rounds down if the limit is inside a scalar.
    return String(text.unicodeScalars[..<end])
  }
}

/// The kind of a failure.
public enum FailureKind: UInt8, Sendable, Hashable, CaseIterable {
  /// None of the others.
  case other = 0
  /// The server could not be reached.
  case noConnection = 1
  /// The server did not answer in time.
  case timeOut = 2
  /// The local member is not allowed to do this.
  case permission = 3
  /// The target does not exist or no longer exists.
  case notFound = 4
  /// The server rejects the request as invalid; retrying does not help.
  case invalid = 5
}

extension SendFailure: Hashable {
  /// Compares all fields; texts are equal if their bytes are.
  public static func == (a: Self, b: Self) -> Bool {
    a.kind == b.kind && a.code == b.code && a.text.hasSameBytes(as: b.text)
  }

  /// Hashes the failure.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
    hasher.combine(code)
    hasher.combine(text)
  }
}
