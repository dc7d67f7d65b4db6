package import PageFile

/// Why something did not get to the server, or from it: one attempt at sending or at a transfer.
///
/// As it is stored:
///
///     size  field
///        1  kind
///        1  1 with a code, else 0
///     1–10  with a code: the code, signed varint
///      1–2  byte count of the text, varint
///        n  text
public struct Failure: Sendable {
  /// The most bytes of UTF-8 that are kept of a text.
  public static let textByteCountMax = 1024

  /// What a client can act upon.
  public let kind: FailureKind
  /// The number that the server or the system gave, such as an HTTP status.
  public let code: Int64?
  /// Words for a person, of at most `textByteCountMax` bytes.
  public let text: String

  /// A failure; of a text that is too long the beginning is kept, in whole Unicode scalars.
  public init(_ kind: FailureKind, code: Int64? = nil, text: String = "") {
    self.kind = kind
    self.code = code
    self.text = Self.beginning(of: text)
  }

  private static func beginning(of text: String) -> String {
    let bytes = text.utf8
    guard bytes.count > textByteCountMax else { return text }
    let end = bytes.index(bytes.startIndex, offsetBy: textByteCountMax)
    // Rounds down where the limit lies within a scalar.
    return String(text.unicodeScalars[..<end])
  }
}

/// The kinds of failures.
public enum FailureKind: UInt8, Sendable, Hashable, CaseIterable {
  /// None of the others.
  case other = 0
  /// There was no way to the server.
  case noConnection = 1
  /// The server did not answer in time.
  case timeOut = 2
  /// The local member may not do this.
  case permission = 3
  /// What it is about is not there, or not any more.
  case notFound = 4
  /// The server does not take it as it is; trying again does not help.
  case invalid = 5
}

extension Failure: Hashable {
  /// Equality of all fields; texts are equal when their bytes are.
  public static func == (a: Self, b: Self) -> Bool {
    a.kind == b.kind && a.code == b.code && a.text.hasSameBytes(as: b.text)
  }

  /// Feeds the failure to a hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
    hasher.combine(code)
    hasher.combine(text)
  }
}

extension Failure {
  /// Reads a failure.
  ///
  /// Any bytes may be given; nil when they do not begin with one.
  package init?(_ reader: inout ByteReader) {
    guard let kindCode = reader.byte(), let kind = FailureKind(rawValue: kindCode),
      let hasCode = reader.byte(), hasCode <= 1
    else { return nil }
    var code: Int64?
    if hasCode == 1 {
      guard let number = reader.signedVarint() else { return nil }
      code = number
    }
    guard let byteCount = reader.length(), byteCount <= Self.textByteCountMax,
      let text = reader.take(byteCount), text.isValidUTF8
    else { return nil }
    // Unsafe: validated just before.
    self.init(kind, code: code, text: unsafe text.uncheckedText())
  }

  /// Writes the failure.
  package func append(to buffer: inout ByteBuffer) {
    buffer.append(kind.rawValue)
    buffer.append(code == nil ? 0 : 1)
    if let code { buffer.append(signedVarint: code) }
    buffer.append(varint: UInt64(text.utf8.count))
    buffer.append(text)
  }
}
