import PageFile
import Testing

/// XXH64 as its specification has it.
///
/// The published values are those of the reference implementation's own self test (seeds 0 and
/// 2654435761) and of the head comment of `Checksum.swift`; the others were computed with the
/// reference implementation, version 0.8.
struct ChecksumTests {
  private static let prime32: UInt64 = 2_654_435_761

  /// The bytes that the reference implementation tests itself with.
  private static func sanityBytes(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    var generator = prime32
    for _ in 0..<count {
      bytes.append(UInt8(truncatingIfNeeded: generator >> 56))
      generator = generator &* 11_400_714_785_074_694_797
    }
    return bytes
  }

  private func checksum(_ bytes: [UInt8], seed: UInt64 = 0) -> UInt64 {
    Bytes.with(bytes) { Checksum.of($0, seed: seed) }
  }

  @Test func publishedValuesOfText() {
    #expect(checksum([]) == 0xEF46_DB37_51D8_E999)
    #expect(checksum(Array("abc".utf8)) == 0x44BC_2CF5_AD77_0999)
    #expect(checksum(Array("xxhash".utf8), seed: 20_141_025) == 0xB559_B98D_844E_0635)
    #expect(
      checksum(Array("Nobody inspects the spammish repetition".utf8)) == 0xFBCE_A83C_8A37_8BF1)
  }

  @Test(
    arguments: [
      (0, 0xEF46_DB37_51D8_E999, 0xAC75_FDA2_929B_17EF),
      (1, 0xE934_A84A_DB05_2768, 0x5014_6076_43A9_B4C3),
      (4, 0x9136_A0DC_A574_57EE, 0xCAAB_286B_D8E9_FDB5),
      (14, 0x8282_DCC4_994E_35C8, 0xC3BD_6BF6_3DEB_6DF0),
      (222, 0xB641_AE8C_B691_C174, 0x20CB_8AB7_AE10_C14A),
    ] as [(Int, UInt64, UInt64)])
  func publishedValuesOfTheSelfTest(count: Int, unseeded: UInt64, seeded: UInt64) {
    #expect(checksum(Self.sanityBytes(count)) == unseeded)
    #expect(checksum(Self.sanityBytes(count), seed: Self.prime32) == seeded)
  }

  /// Every path through the algorithm: with and without whole stripes, words, halves and bytes.
  @Test(
    arguments: [
      (3, 0x31D2_363F_52E5_64C9, 0xE422_054A_9BC4_3A06),
      (7, 0x9A7B_1499_59CE_60D8, 0x76C1_7F70_933C_79ED),
      (8, 0xDAB9_9D95_C6F9_0092, 0x9198_1F79_E1F7_D960),
      (12, 0xD52E_4078_33AF_5133, 0x24D9_35BE_81C7_2AB6),
      (31, 0xA2AA_5F33_CC4A_6119, 0x931D_F7FF_3B1D_1E4A),
      (32, 0x23C3_C17E_F790_FD97, 0x2CD9_B29B_F8EE_D6BF),
      (33, 0x50A7_CFC7_BA58_8784, 0xDBBA_C976_6BB3_ADF7),
      (63, 0x5E3E_54B4_31C7_493C, 0x4DC0_1BDA_FE25_FCBC),
      (64, 0x0EB6_4B3E_F6EE_B01F, 0xE907_17D2_8B13_C3E9),
      (101, 0xBAD4_D3BF_033B_DA4C, 0x34EA_B9D2_A19A_4D42),
      (300, 0x2400_04DB_EE0B_A6DC, 0x77D2_B84B_74C3_1210),
    ] as [(Int, UInt64, UInt64)])
  func valuesOfTheReferenceImplementation(count: Int, unseeded: UInt64, seeded: UInt64) {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7 + 3) }
    #expect(checksum(bytes) == unseeded)
    #expect(checksum(bytes, seed: .max) == seeded)
  }

  /// What lies around the bytes, and where they begin, is not part of the sum.
  @Test func placeDoesNotMatter() {
    var random = SeededGenerator()
    for _ in 0..<200 {
      let bytes = random.bytes(random.below(150))
      let before = random.below(9)
      let surrounded = random.bytes(before) + bytes + random.bytes(20)
      let inside = Bytes.with(surrounded) {
        Checksum.of($0.slice(before, bytes.count), seed: 7)
      }
      #expect(inside == checksum(bytes, seed: 7))
    }
  }

  @Test func seedsDependOnEachWordAndItsPlace() {
    let seeds: [UInt64] = [
      Checksum.seed(), Checksum.seed(0), Checksum.seed(0, 0), Checksum.seed(1), Checksum.seed(1, 2),
      Checksum.seed(2, 1), Checksum.seed(1, 2, 0),
    ]
    #expect(Set(seeds).count == seeds.count)
  }
}
