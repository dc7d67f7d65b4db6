import ArgumentParser
import PageFile

#if Encryption
  import SealedPages
#endif

/// The key of an encrypted store: from a file or from the environment, never an argument, which
/// other users of the machine could see.
struct KeyOptions: ParsableArguments {
  /// The environment variable that may hold the key in hexadecimal digits.
  static let variable = "MSGSTORE_KEY"

  @Option(
    help: ArgumentHelp(
      "The file with the key of an encrypted store: 32 bytes, or 64 hexadecimal digits.",
      discussion: "Without it, the environment variable MSGSTORE_KEY may hold the digits.",
      valueName: "path"),
    completion: .file())
  var keyFile: String?

  /// Returns the source of the key; nil if none is given.
  func encryption() throws -> Encryption? {
    if let keyFile { return try AppKeyText.encryption(AppKeyText.key(inFile: keyFile)) }
    guard let digits = System.variable(Self.variable), !digits.isEmpty else { return nil }
    return try AppKeyText.encryption(
      AppKeyText.key(of: Array(digits.utf8), from: "the variable \(Self.variable)"))
  }

  /// Returns the source of a key that must be given.
  func requiredEncryption() throws -> Encryption {
    guard let encryption = try encryption() else {
      try AppKeyText.refuseWithoutCipher()
      throw ToolError.failure("the key is missing: give it with --key-file")
    }
    return encryption
  }
}

/// A key as people store it.
package enum AppKeyText {
  private static let byteCount = 32
  /// More than any form of a key, so that a longer file shows.
  private static let maximumFileByteCount = 256

  /// Reads the key in a file.
  static func key(inFile path: String) throws(ToolError) -> [UInt8] {
    let file = try InputFile(path: path)
    var bytes = [UInt8](repeating: 0, count: maximumFileByteCount)
    var count = 0
    while count < bytes.count {
      let readCount = try file.read(into: &bytes, at: count)
      if readCount == 0 { break }
      count += readCount
    }
    return try key(of: Array(bytes[..<count]), from: path)
  }

  /// Returns the key that bytes hold: themselves, or hexadecimal digits with blanks around them.
  package static func key(of bytes: [UInt8], from source: String) throws(ToolError) -> [UInt8] {
    if bytes.count == byteCount { return bytes }
    let blanks = Array(" \t\r\n".utf8)
    let start = bytes.firstIndex { !blanks.contains($0) } ?? bytes.endIndex
    let end = bytes.lastIndex { !blanks.contains($0) }.map { $0 + 1 } ?? start
    let digits = bytes[start..<end].map(digit)
    guard digits.count == 2 * byteCount, !digits.contains(nil) else {
      let size = "\(bytes.count) bytes\(bytes.count == maximumFileByteCount ? " or more" : "")"
      throw .failure(
        "\(source): not a key (\(size) instead of \(byteCount), or of \(2 * byteCount) "
          + "hexadecimal digits)")
    }
    return stride(from: 0, to: digits.count, by: 2).map { index in
      (digits[index] ?? 0) << 4 | (digits[index + 1] ?? 0)
    }
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  /// Returns the source of a key.
  static func encryption(_ key: [UInt8]) throws(ToolError) -> Encryption {
    #if Encryption
      return .aes256 { key }
    #else
      throw withoutCipher
    #endif
  }

  /// The advice for somebody who opens an encrypted store without its key.
  static var adviceWithoutKey: String {
    #if Encryption
      "give the key with --key-file"
    #else
      "\(withoutCipher)"
    #endif
  }

  /// Throws in a build that cannot read or write encrypted stores.
  static func refuseWithoutCipher() throws(ToolError) {
    #if !Encryption
      throw withoutCipher
    #endif
  }

  #if !Encryption
    private static let withoutCipher = ToolError.failure(
      "this msgdump has no cipher for encrypted stores; build it with the trait Encryption")
  #endif
}
