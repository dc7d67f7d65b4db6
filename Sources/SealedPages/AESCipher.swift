#if Encryption
  import PageFile

  #if canImport(CryptoKit)
    import CryptoKit
    import Foundation
  #else
    import Crypto
    import FoundationEssentials
  #endif

  /// Cipher 1 of the format: AES-256-GCM, with HKDF-SHA256 to derive keys.
  ///
  /// By CryptoKit on Apple's systems, by swift-crypto elsewhere. Both draw 96 random bits for the
  /// nonce of each seal from the system's generator, and overwrite a `SymmetricKey` when it is
  /// released.
  struct AESCipher: PageCipher {
    private let key: SymmetricKey

    /// - Parameter key: 32 bytes.
    init(_ key: UnsafeRawBufferPointer) {
      precondition(key.count == SealedUnit.keyByteCount, "cipher: key of another length")
      self.key = unsafe SymmetricKey(data: key)
    }

    var number: UInt32 { 1 }

    func seal(_ plain: Bytes, context: Bytes, into sealed: MutableBytes) {
      unsafe plain.withUnsafeBytes { plain in
        unsafe context.withUnsafeBytes { context in
          // Fails for contents of more than 64 GiB only.
          guard let box = try? unsafe AES.GCM.seal(plain, using: key, authenticating: context),
            let combined = box.combined, combined.count == sealed.count
          else { preconditionFailure("cipher: refused a seal") }
          unsafe combined.withUnsafeBytes { unsafe sealed.copy(Bytes($0), to: 0) }
        }
      }
    }

    func open(_ sealed: Bytes, context: Bytes, into plain: MutableBytes) -> Bool {
      let opened = unsafe sealed.withUnsafeBytes { sealed in
        unsafe context.withUnsafeBytes { context -> Data? in
          guard let box = try? unsafe AES.GCM.SealedBox(combined: sealed) else { return nil }
          return try? unsafe AES.GCM.open(box, using: key, authenticating: context)
        }
      }
      guard let opened, opened.count == plain.count else { return false }
      unsafe opened.withUnsafeBytes { unsafe plain.copy(Bytes($0), to: 0) }
      return true
    }

    func derive(_ info: String, salt: Bytes, into derived: MutableBytes) {
      let bytes = HKDF<SHA256>.deriveKey(
        inputKeyMaterial: key, salt: salt.array(), info: Array(info.utf8),
        outputByteCount: derived.count)
      unsafe bytes.withUnsafeBytes { unsafe derived.copy(Bytes($0), to: 0) }
    }

    func keyed(with key: Bytes) -> any PageCipher {
      unsafe key.withUnsafeBytes { unsafe AESCipher($0) }
    }

    func fillRandom(_ target: MutableBytes) {
      var generator = SystemRandomNumberGenerator()
      for offset in stride(from: 0, to: target.count, by: 8) {
        let word = generator.next()
        for index in offset..<min(offset + 8, target.count) {
          target[index] = UInt8(truncatingIfNeeded: word >> UInt64(8 * (index - offset)))
        }
      }
    }
  }
#endif
