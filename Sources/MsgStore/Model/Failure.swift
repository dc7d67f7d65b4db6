package import PageFile

/// Why something did not reach the server, or was refused by it.
public struct Failure: Hashable, Sendable {
  /// What kind of failure it was, for programs.
  public var kind: FailureKind
  /// The server's or system's own code, where there is one.
  public var code: Int64?
  /// What it said, for people.
  public var text: String

  /// A failure of a kind.
  public init(_ kind: FailureKind, code: Int64? = nil, text: String = "") {
    self.kind = kind
    self.code = code
    self.text = text
  }

  package init?(_ reader: inout ByteReader) { return nil }
  package func append(to buffer: inout ByteBuffer) {}
}

/// Kinds of failures.
public enum FailureKind: UInt8, Sendable, Hashable, CaseIterable {
  case noConnection = 0
  case timeOut, permission, notFound, invalid, other
}
