// What swift-argument-parser needs of Foundation, so that the tools can be type-checked with it. No
// source of the package imports this.

public protocol LocalizedError: Error {
  var errorDescription: String? { get }
}

public class NSError: Error {}

extension Error {
  public var localizedDescription: String { "" }
}

public struct Data {}

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
