// What swift-argument-parser and MsgStoreFoundation need of Foundation, so that they can be
// type-checked. Its interface is not among those of a toolchain for Linux.

public protocol LocalizedError: Error {
  var errorDescription: String? { get }
  var recoverySuggestion: String? { get }
}

extension LocalizedError {
  public var errorDescription: String? { nil }
  public var recoverySuggestion: String? { nil }
}

public typealias TimeInterval = Double

public struct Date {
  public let timeIntervalSince1970: TimeInterval
  public init(timeIntervalSince1970: TimeInterval) {
    self.timeIntervalSince1970 = timeIntervalSince1970
  }
}

public class NSError: Error {}

extension Error {
  public var localizedDescription: String { "" }
}

public protocol ContiguousBytes {
  func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R
}

public protocol DataProtocol: RandomAccessCollection where Element == UInt8 {}

extension UnsafeRawBufferPointer: DataProtocol, ContiguousBytes {
  public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    try unsafe body(self)
  }
}

extension Array: DataProtocol where Element == UInt8 {}

public struct Data: ContiguousBytes {
  public init() {}
  public var count: Int { 0 }
  public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    try unsafe body(UnsafeRawBufferPointer(start: nil, count: 0))
  }
}

extension String {
  public enum Encoding { case utf8 }

  public init?(data: Data, encoding: Encoding) { nil }
}

public class JSONEncoder {
  public struct OutputFormatting: OptionSet {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    public static var prettyPrinted: OutputFormatting { OutputFormatting(rawValue: 1) }
    public static var sortedKeys: OutputFormatting { OutputFormatting(rawValue: 2) }
  }

  public var outputFormatting = OutputFormatting()

  public init() {}
  public func encode(_ value: some Encodable) throws -> Data { Data() }
}
