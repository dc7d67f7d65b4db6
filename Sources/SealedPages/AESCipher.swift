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

    /// HKDF of RFC 5869, whose output of one block is the HMAC of `info` and a byte 1 under the
    /// extracted key.
    ///
    /// The extracted key is the HMAC of the key under the salt. The library's calls would set up an
    /// HMAC under the salt for each key, and extract the key for each output anew, which took a
    /// seventh of the time of an opening.
    func derivation(salt: Bytes) -> KeyDerivation {
      let salted = unsafe salt.withUnsafeBytes { salt in
        unsafe HMAC<SHA256>(key: SymmetricKey(data: salt))
      }
      return unsafe key.withUnsafeBytes { unsafe Self.derivation(from: $0, salted) }
    }

    private static func derivation(
      from key: UnsafeRawBufferPointer, _ salted: HMAC<SHA256>
    ) -> KeyDerivation {
      var extraction = salted
      unsafe extraction.update(data: key)
      let prepared = HMAC<SHA256>(key: SymmetricKey(data: extraction.finalize()))
      return KeyDerivation(
        derive: { info, derived in
          var code = prepared
          code.update(data: Array(info.utf8) + [1])
          unsafe code.finalize().withUnsafeBytes { block in
            unsafe derived.copy(Bytes(block).slice(0, derived.count), to: 0)
          }
        },
        rekeyed: { key in
          unsafe key.withUnsafeBytes { unsafe Self.derivation(from: $0, salted) }
        })
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
