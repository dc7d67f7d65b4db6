import Foundation
import Testing

@testable import PageFile
@testable import SealedPages

/// Units sealed by another program, Python's `cryptography`, from docs/page-file-format.md alone,
/// with the keys, nonces and contents that are named here.
struct KnownAnswerTests {
  private let storeID = StoreID(high: 0x4F5A_8F2A_3BF1_F03D, low: 0x5EC6_712F_528D_12E2)
  /// The key record of the store: app key 0, 1 … 31, data key 100, 101 … 131, nonce of ones.
  private let record =
    "0100000001000000c397926f60655046ea5e82bb12a63e2b010101010101010101010101387e4ce9f4e68470ff73d6"
    + "66849244102c7ffae599ba75a6348f3b02254f7a4bf5e6a675b6db080c57489ea432682aa7"

  private func cipher() throws -> AESCipher {
    try #require(try Encryption.aes256 { [UInt8](0..<32) }.makeCipher(path: "x") as? AESCipher)
  }

  private func bytes(_ hex: String) -> [UInt8] {
    stride(from: 0, to: hex.count, by: 2).map { index in
      let start = hex.index(hex.startIndex, offsetBy: index)
      return UInt8(hex[start..<hex.index(start, offsetBy: 2)], radix: 16) ?? 0
    }
  }

  private func unlock(_ record: [UInt8], pageByteCount: Int = 4096) throws -> StoreKeys.Unlocking {
    StoreKeys.unlock(
      [Bytes.with(record) { KeyRecord($0) }], of: storeID, pageByteCount: pageByteCount,
      under: try cipher())
  }

  private func keys() throws -> StoreKeys {
    guard case .unlocked(let keys) = try unlock(bytes(record)) else {
      throw PageFileError.wrongKey(path: "record")
    }
    return keys
  }

  @Test func theKeyRecordOpensAndEachByteOfItIsBound() throws {
    let bytes = bytes(record)
    #expect(try keys().record.bytes == bytes)
    for index in bytes.indices {
      var changed = bytes
      changed[index] ^= 1
      switch try unlock(changed) {
      case .unlocked: Issue.record("byte \(index) is not bound")
      // The cipher and the name say whose record it is.
      case .wrongKey: #expect((0..<4).contains(index) || (8..<24).contains(index))
      case .broken: #expect(!((0..<4).contains(index) || (8..<24).contains(index)))
      }
    }
    if case .unlocked = try unlock(bytes, pageByteCount: 8192) {
      Issue.record("the page size is not bound")
    }
  }

  /// A unit of each label: nonce, sealed bytes 1, 2 … 24, tag; with its cipher and its context.
  private func answers() throws -> [(any PageCipher, [UInt8], String)] {
    let keys = try keys()
    let clear = (0..<140).map { UInt8($0) }
    func words(_ words: UInt64...) -> [UInt8] {
      words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
    }
    return [
      (
        keys.pages, words(SealLabel.page.rawValue, 7),
        "02020202020202020202020249fc3a743ade1e1562373a2b0d56bae9ab01bfffcbaa0e1ae4c51983814d"
          + "ee397a9ae3c7d294eb49"
      ),
      (
        keys.log, words(SealLabel.commitHeader.rawValue, 4096, 1),
        "030303030303030303030303b8b0934ea678dc5b483b2c5ec7879a39d486d9c209ec1dda128dc96224a8"
          + "d23aa488eb1778ea6d8f"
      ),
      (
        keys.log, words(SealLabel.commitBody.rawValue, 4096, 11, 12, 13),
        "0404040404040404040404042cf4c4100e3cf5e26f3df11189088538b9fd1ab6ddf58baf4240497198f6"
          + "38f99628bf3da081c85d"
      ),
      (
        keys.log, words(SealLabel.watermark.rawValue, 4608),
        "0505050505050505050505059dd4b0321f27c6ba7c8433f555e10a6a87b60c6b2b00bbb1de7edb9979a7"
          + "9218bdad341e11435b57"
      ),
      (
        keys.log, words(SealLabel.walHeader.rawValue, 0) + clear[..<116],
        "06060606060606060606060621314466c85ec548ce1a90ee66d42b2d7fd9ef9a6e09362e0bc5f6d7ef2f"
          + "41f626085c8122f8b3e7"
      ),
      (
        keys.metas, words(SealLabel.metaSlot.rawValue, 1) + clear,
        "070707070707070707070707706219d7107415e76fc2d764f7ea824442089b95f996f3151edc86a97e22"
          + "392ce51e93006a382024"
      ),
    ]
  }

  @Test func unitsOfEachLabelOpenInTheirContextOnly() throws {
    for (cipher, context, hex) in try answers() {
      let unit = bytes(hex)
      #expect(open(unit, context, cipher) == (1...24).map { UInt8($0) }, "\(hex)")
      for index in context.indices {
        var changed = context
        changed[index] ^= 0x80
        #expect(open(unit, changed, cipher) == nil, "byte \(index) of the context of \(hex)")
      }
      for index in unit.indices {
        var changed = unit
        changed[index] ^= 0x80
        #expect(open(changed, context, cipher) == nil, "byte \(index) of \(hex)")
      }
    }
  }

  /// The document shows the same record and units.
  @Test func theDocumentHasTheseUnits() throws {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../../docs/page-file-format.md").standardized
    let words = try String(contentsOf: file, encoding: .utf8)
      .filter { !$0.isWhitespace && $0 != "`" }
    #expect(words.contains(record))
    for (_, _, hex) in try answers() { #expect(words.contains(hex), "\(hex)") }
  }

  private func open(
    _ unit: [UInt8], _ context: [UInt8], _ cipher: any PageCipher
  ) -> [UInt8]? {
    var plain = ByteBuffer(capacity: 64)
    let target = plain.extend(by: unit.count - SealedUnit.addedByteCount)
    let isOpen = Bytes.with(unit) { unit in
      Bytes.with(context) { cipher.open(unit, context: $0, into: target) }
    }
    return isOpen ? plain.bytes.array() : nil
  }

  @Test func eachSealDrawsANonceOfItsOwn() throws {
    let cipher = try cipher()
    var units: Set<[UInt8]> = []
    var nonces: Set<[UInt8]> = []
    for _ in 0..<1000 {
      var unit = ByteBuffer(capacity: 64)
      let target = unit.extend(by: 24 + SealedUnit.addedByteCount)
      Bytes.with([UInt8](repeating: 5, count: 24)) { plain in
        cipher.seal(plain, context: plain, into: target)
      }
      let bytes = unit.bytes.array()
      #expect(open(bytes, [UInt8](repeating: 5, count: 24), cipher) != nil)
      units.insert(bytes)
      nonces.insert(Array(bytes[..<12]))
    }
    #expect(units.count == 1000 && nonces.count == 1000)
  }
}
