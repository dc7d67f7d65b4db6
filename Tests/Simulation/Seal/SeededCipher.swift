package import PageFile

/// The generator that the seals of a run draw from, seeded, so that a run can be repeated.
///
/// One for all openings of a run: a nonce that is drawn twice is then the engine's doing.
package final class SealSource: Sendable {
  private let state: Locked<State>
  private let key: [UInt8]

  private struct State {
    var random: SeededRandom
    var sealCount = 0
    /// The digest of what was sealed, by key and nonce, if seals are collected.
    var seals: [Seal: UInt64]?
    var repeatedCount = 0
  }

  private struct Seal: Hashable {
    let key: UInt64
    let nonce: UInt64
    let nonceEnd: UInt32
  }

  /// - Parameters:
  ///   - key: The app's key.
  ///   - isCollecting: True to keep every pair of key and nonce.
  package init(seed: UInt64, key: UInt8 = 1, isCollecting: Bool = false) {
    self.key = [UInt8](repeating: key, count: SealedUnit.keyByteCount)
    state = Locked(State(random: SeededRandom(seed: seed), seals: isCollecting ? [:] : nil))
  }

  /// The cipher under the app's key.
  package var cipher: SeededCipher { Bytes.with(key) { SeededCipher(key: $0, self) } }

  /// The source of the key, for opening a store.
  package var encryption: Encryption {
    Encryption {
      if Defect.nonceFromSeed.isPlanted {
        self.state.withLock { $0.random = SeededRandom(seed: 1) }
      }
      return self.cipher
    }
  }

  /// The number of seals so far.
  package var sealCount: Int { state.withLock { $0.sealCount } }
  /// The number of seals that had a key and a nonce that an earlier one with other content had.
  package var repeatedCount: Int { state.withLock { $0.repeatedCount } }

  func draw() -> UInt64 { state.withLock { $0.random.next() } }

  func note(_ key: UInt64, _ nonce: UInt64, _ nonceEnd: UInt32, _ digest: UInt64) {
    state.withLock { state in
      state.sealCount += 1
      let seal = Seal(key: key, nonce: nonce, nonceEnd: nonceEnd)
      let before = state.seals?.updateValue(digest, forKey: seal)
      if before != nil { state.repeatedCount += 1 }
    }
  }
}

extension SealSource: Hashable {
  package static func == (a: SealSource, b: SealSource) -> Bool { a === b }
  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A cipher for tests: a keystream and a tag of mixed words.
///
/// It binds key, context and every byte as a real one does, and is not strong: who knows how it is
/// made can forge a tag.
package struct SeededCipher: PageCipher {
  private let source: SealSource
  private let words: [UInt64]

  package var number: UInt32 { 0x7E57 }

  init(key: Bytes, _ source: SealSource) {
    self.source = source
    words = (0..<4).map { key.uint64(at: 8 * $0) }
  }

  private static func mix(_ state: UInt64, _ word: UInt64) -> UInt64 {
    SeededRandom.mix((state ^ word) &* 0x9E37_79B9_7F4A_7C15 &+ (state >> 29))
  }

  /// The word at an offset, with zeros beyond the end.
  private static func word(_ bytes: Bytes, _ offset: Int) -> UInt64 {
    if offset + 8 <= bytes.count { return bytes.uint64(at: offset) }
    var word: UInt64 = 0
    for index in offset..<bytes.count {
      word |= UInt64(bytes[index]) << UInt64(8 * (index - offset))
    }
    return word
  }

  private func digest(_ lane: UInt64, _ parts: Bytes...) -> UInt64 {
    var state = Self.mix(words[0] &+ lane, words[1])
    for part in parts {
      state = Self.mix(state, UInt64(part.count))
      for offset in stride(from: 0, to: part.count, by: 8) {
        state = Self.mix(state, Self.word(part, offset))
      }
    }
    return Self.mix(state, words[2] &+ lane)
  }

  private func crypt(_ source: Bytes, _ nonce: Bytes, into target: MutableBytes) {
    let state = Self.mix(Self.mix(words[3], nonce.uint64(at: 0)), UInt64(nonce.uint32(at: 8)))
    for offset in stride(from: 0, to: source.count, by: 8) {
      let word = Self.word(source, offset) ^ Self.mix(state, UInt64(offset) &+ words[2])
      if offset + 8 <= source.count {
        target.store(word, at: offset)
      } else {
        for index in offset..<source.count {
          target[index] = UInt8(truncatingIfNeeded: word >> UInt64(8 * (index - offset)))
        }
      }
    }
  }

  package func seal(_ plain: Bytes, context: Bytes, into sealed: MutableBytes) {
    precondition(sealed.count == plain.count + SealedUnit.addedByteCount)
    var nonce = (source.draw(), UInt32(truncatingIfNeeded: source.draw()))
    if Defect.nonceKept.isPlanted { nonce = (1, 1) }
    if Defect.nonceFromPlace.isPlanted { nonce = (digest(9, context), 1) }
    source.note(digest(7), nonce.0, nonce.1, digest(8, plain, context))
    var drawn = ByteBuffer(capacity: SealedUnit.nonceByteCount)
    drawn.append(littleEndian: nonce.0)
    drawn.append(littleEndian: nonce.1)
    let ciphertext = sealed.slice(SealedUnit.nonceByteCount, plain.count)
    crypt(plain, drawn.bytes, into: ciphertext)
    sealed.copy(drawn.bytes, to: 0)
    let tag = sealed.count - SealedUnit.tagByteCount
    for lane in 0..<2 {
      let word = digest(UInt64(lane), context, drawn.bytes, ciphertext.readOnly)
      sealed.store(word, at: tag + 8 * lane)
    }
  }

  package func open(_ sealed: Bytes, context: Bytes, into plain: MutableBytes) -> Bool {
    guard sealed.count == plain.count + SealedUnit.addedByteCount else { return false }
    let nonce = sealed.slice(0, SealedUnit.nonceByteCount)
    let ciphertext = sealed.slice(SealedUnit.nonceByteCount, plain.count)
    let tag = sealed.count - SealedUnit.tagByteCount
    for lane in 0..<2 {
      let word = digest(UInt64(lane), context, nonce, ciphertext)
      guard word == sealed.uint64(at: tag + 8 * lane) else { return false }
    }
    crypt(ciphertext, nonce, into: plain)
    return true
  }

  package func derivation(salt: Bytes) -> KeyDerivation {
    let salt = salt.array()
    return KeyDerivation(
      derive: { info, derived in
        Bytes.with(Array(info.utf8)) { info in
          Bytes.with(salt) { salt in
            for offset in 0..<derived.count {
              derived[offset] = UInt8(truncatingIfNeeded: digest(UInt64(100 + offset), info, salt))
            }
          }
        }
      },
      rekeyed: { key in Bytes.with(salt) { SeededCipher(key: key, source).derivation(salt: $0) } })
  }

  package func keyed(with key: Bytes) -> any PageCipher { SeededCipher(key: key, source) }

  package func fillRandom(_ target: MutableBytes) {
    for offset in 0..<target.count {
      target[offset] = UInt8(truncatingIfNeeded: source.draw() >> 24)
    }
  }
}
