// The part of CryptoKit that Sources/SealedPages calls, as its documentation declares it.
public import Foundation

public protocol HashFunction {}
public struct SHA256: HashFunction {}

public struct SymmetricKey: ContiguousBytes, Sendable {
  public let bitCount: Int
  public init<D: ContiguousBytes>(data: D) { bitCount = 0 }
  public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    try unsafe body(UnsafeRawBufferPointer(start: nil, count: 0))
  }
}

public enum AES {
  public enum GCM {
    public struct Nonce: Sendable {}

    public struct SealedBox: Sendable {
      public init<D: DataProtocol>(combined: D) throws {}
      public var combined: Data? { nil }
    }

    public static func seal<Plaintext: DataProtocol, AuthenticatedData: DataProtocol>(
      _ message: Plaintext, using key: SymmetricKey, nonce: Nonce? = nil,
      authenticating authenticatedData: AuthenticatedData
    ) throws -> SealedBox {
      try SealedBox(combined: message)
    }

    public static func open<AuthenticatedData: DataProtocol>(
      _ sealedBox: SealedBox, using key: SymmetricKey,
      authenticating authenticatedData: AuthenticatedData
    ) throws -> Data {
      Data()
    }
  }
}

public struct HashedAuthenticationCode<H: HashFunction>: ContiguousBytes, Sendable {
  public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    try unsafe body(UnsafeRawBufferPointer(start: nil, count: 0))
  }
}

public struct HMAC<H: HashFunction>: Sendable {
  public init(key: SymmetricKey) {}
  public mutating func update<D: DataProtocol>(data: D) {}
  public func finalize() -> HashedAuthenticationCode<H> { HashedAuthenticationCode() }
}

public struct HKDF<H: HashFunction>: Sendable {
  public static func extract<Salt: DataProtocol>(
    inputKeyMaterial: SymmetricKey, salt: Salt?
  ) -> HashedAuthenticationCode<H> {
    HashedAuthenticationCode()
  }
}
