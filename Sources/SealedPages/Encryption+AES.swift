#if Encryption
  public import PageFile

  #if canImport(CryptoKit)
    public import Foundation
  #else
    public import FoundationEssentials
  #endif

  extension Encryption {
    /// Encrypts a store with AES-256-GCM.
    ///
    /// - Parameter key: Returns the app's key: 32 bytes that nobody can guess, as a `SymmetricKey`,
    ///   as `Data`, or as an array; nil if it is not on this device, which is reported as
    ///   `keyMissing`. A closure that cannot read the key while the device is locked throws
    ///   `PageFileError.deviceLocked`, which is reported as it is. A key of another length is
    ///   reported as `invalidKey`. Called once at each opening and at each `resume`, so the app
    ///   need not keep the key in memory; may be called from any thread.
    public static func aes256<Key: ContiguousBytes & SendableMetatype>(
      key: @escaping @Sendable () throws(PageFileError) -> Key?
    ) -> Encryption {
      Encryption { () throws(PageFileError) in
        guard let key = try key() else { return nil }
        let made: Result<AESCipher, PageFileError> = unsafe key.withUnsafeBytes { bytes in
          guard bytes.count == SealedUnit.keyByteCount else {
            return .failure(.invalidKey(byteCount: bytes.count))
          }
          return .success(unsafe AESCipher(bytes))
        }
        return try made.get()
      }
    }
  }
#endif
