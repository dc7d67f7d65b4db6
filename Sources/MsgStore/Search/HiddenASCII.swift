/// The kinds of ASCII characters in the fold of a text that its bytes do not contain.
///
/// A term of ASCII whose kinds a text does not hide occurs only where the bytes of the text have
/// it, so that most texts in other scripts are dismissed without being folded.
struct HiddenASCII: OptionSet, Hashable {
  let rawValue: UInt8

  static let letters = Self(rawValue: 1)
  static let digits = Self(rawValue: 2)
  /// All others, white space too.
  static let signs = Self(rawValue: 4)
  /// A scalar that folds to nothing, so that those around it become neighbours.
  static let gaps = Self(rawValue: 8)

  init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The kind of an ASCII character, folded; empty for any other.
  init(_ scalar: UInt32) {
    switch scalar {
    case 0x30...0x39: self = .digits
    case 0x61...0x7A: self = .letters
    case 0..<0x80: self = .signs
    default: self = []
    }
  }

  /// The kinds that can hide a run of ASCII characters, folded.
  init(in bytes: some Collection<UInt8>) {
    self = bytes.count > 1 ? .gaps : []
    for byte in bytes { formUnion(HiddenASCII(UInt32(byte))) }
  }

  /// The kinds in the fold of one scalar.
  init(_ folded: [UInt32]) {
    self = folded.isEmpty ? .gaps : []
    for scalar in folded { formUnion(HiddenASCII(scalar)) }
  }
}
