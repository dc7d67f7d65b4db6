/// A cipher under one key, which seals units of the files: nobody without the key can read a unit,
/// or change it unnoticed.
///
/// The engine has no cipher of its own. A target that an app asks for has one, and the tests have
/// another.
///
///  1. A seal takes no nonce from its caller. The cipher draws 96 random bits for each seal from a
///     generator that nobody can foresee or set back; it keeps no counter and derives nothing from
///     its arguments. So a crash, a copy of the files, or a second opening cannot repeat a nonce.
///  2. A unit opens only under its key and its context, and only if each of its bytes is as it was
///     sealed.
///  3. Any number of threads may use a cipher at once.
package protocol PageCipher: Sendable {
  /// The number of the cipher in key records.
  var number: UInt32 { get }

  /// Seals `plain`: fills `sealed`, which is `SealedUnit.addedByteCount` bytes longer, with nonce,
  /// ciphertext, and tag.
  ///
  /// `plain` may lie in `sealed`, at the place of the ciphertext.
  func seal(_ plain: Bytes, context: Bytes, into sealed: MutableBytes)

  /// Opens a sealed unit and writes its content to `plain`, which is `SealedUnit.addedByteCount`
  /// bytes shorter.
  ///
  /// Returns false, and writes nothing, if the unit does not open. `plain` may lie in `sealed`, at
  /// the place of the ciphertext.
  func open(_ sealed: Bytes, context: Bytes, into plain: MutableBytes) -> Bool

  /// Returns a derivation of bytes from the key, by HKDF with SHA-256.
  ///
  /// Setting it up takes as long as four derivations.
  func derivation(salt: Bytes) -> KeyDerivation

  /// Returns the same cipher under another key, of `SealedUnit.keyByteCount` bytes.
  func keyed(with key: Bytes) -> any PageCipher

  /// Fills a buffer from the generator that nonces come from.
  func fillRandom(_ target: MutableBytes)
}

/// A derivation of bytes from a key and a salt, by HKDF with SHA-256.
package struct KeyDerivation {
  /// Fills `derived`, of at most `SealedUnit.keyByteCount` bytes, with bytes that follow from the
  /// key, the salt, and `info`.
  let derive: (_ info: String, _ derived: MutableBytes) -> Void
  /// Returns the derivation from another key, of `SealedUnit.keyByteCount` bytes, with the same
  /// salt.
  ///
  /// It takes half the time, as the salt is prepared already.
  let rekeyed: (_ key: Bytes) -> KeyDerivation

  package init(
    derive: @escaping (_ info: String, _ derived: MutableBytes) -> Void,
    rekeyed: @escaping (_ key: Bytes) -> KeyDerivation
  ) {
    self.derive = derive
    self.rekeyed = rekeyed
  }
}

/// The layout of a sealed unit: nonce, ciphertext, tag.
package enum SealedUnit {
  package static let nonceByteCount = 12
  package static let tagByteCount = 16
  /// The number of bytes that a unit is longer than its content.
  package static let addedByteCount = nonceByteCount + tagByteCount
  /// The length of a key.
  package static let keyByteCount = 32
}

/// The kinds of sealed units, which their contexts begin with.
package enum SealLabel: UInt64, CaseIterable, Sendable {
  case metaSlot = 0x4D45_5441
  case walHeader = 0x5741_4C48
  case commitHeader = 0x434D_5431
  case commitBody = 0x424F_4459
  case watermark = 0x574D_524B
  case page = 0x5041_4745
}

/// The context of a seal: a label, then numbers in fixed places, so that no two contexts have the
/// same bytes.
package enum SealContext {
  /// Calls `body` with the bytes of a context.
  static func with<R>(_ label: SealLabel, _ words: UInt64..., body: (Bytes) -> R) -> R {
    var context = ByteBuffer(capacity: 64)
    context.append(littleEndian: label.rawValue)
    for word in words { context.append(littleEndian: word) }
    return body(context.bytes)
  }

  /// Calls `body` with the bytes of a context that ends with the clear bytes of its own sector.
  static func with<R>(
    _ label: SealLabel, _ word: UInt64, clear: Bytes, body: (Bytes) -> R
  ) -> R {
    var context = ByteBuffer(capacity: 16 + clear.count)
    context.append(littleEndian: label.rawValue)
    context.append(littleEndian: word)
    if !Defect.clearBytesUnbound.isPlanted { context.append(clear) }
    return body(context.bytes)
  }
}
