import Damage
import PageFile
import Testing

/// Files of versions to come: every bit of the three feature words, and other version numbers.
struct FeatureTests {
  enum Word: Int, CaseIterable {
    case mayRead
    case mayWrite
    case mustUnderstand
  }

  private func open(
    _ files: MemoryDirectory, _ access: DatabaseOptions.Access
  ) throws(PageFileError) -> Database {
    var options = SpecimenMaker.options
    options.access = access
    return try Database(in: files, name: Specimen.storeName, options: options)
  }

  /// A copy of a specimen in which the meta slots `slots` are as `change` makes them.
  private func changed(
    _ specimen: Specimen, slots: [Int] = [0, 1], _ change: (inout [UInt8], Int) -> Void
  ) throws -> MemoryDirectory {
    let files = specimen.files.copy()
    var bytes = try #require(files[Specimen.storeName])
    for slot in slots {
      change(&bytes, MetaSlot.offset(of: slot))
      Forge.sealMeta(&bytes, slot)
    }
    files[Specimen.storeName] = bytes
    return files
  }

  private func contents(_ files: MemoryDirectory) -> [[UInt8]?] {
    Specimen.fileNames.map { files[$0] }
  }

  private func expectUnsupported(
    _ files: MemoryDirectory, _ access: DatabaseOptions.Access, version: UInt32 = 1,
    features: UInt64 = 0
  ) {
    let before = contents(files)
    #expect(throws: PageFileError.unsupportedFormat(version: version, features: features)) {
      try open(files, access)
    }
    let isUntouched = contents(files) == before
    #expect(isUntouched)
  }

  /// A store that says that it is encrypted is not read without a key.
  private func expectLocked(_ files: MemoryDirectory) {
    let before = contents(files)
    let path = files.path(of: Specimen.storeName)
    for access in [DatabaseOptions.Access.readOnly, .readWrite] {
      #expect(throws: PageFileError.keyMissing(path: path)) { try open(files, access) }
    }
    let isUntouched = contents(files) == before
    #expect(isUntouched)
  }

  private func expectReadable(_ files: MemoryDirectory, _ specimen: Specimen) throws {
    let before = contents(files)
    let (lsn, seen) = try open(files, .readOnly).state()
    let isRight = lsn == specimen.lastLSN && seen == specimen.states[lsn]
    let isUntouched = contents(files) == before
    #expect(isRight && isUntouched)
  }

  @Test func everyFeatureBitLetsDoWhatItsWordSays() throws {
    for specimen in [try Specimen.closed(), try Specimen.inUse()] {
      for word in Word.allCases {
        for bit in 0..<64 {
          let feature = UInt64(1) << UInt64(bit)
          let files = try changed(specimen) { bytes, offset in
            bytes[offset + 16 + word.rawValue * 8 + bit / 8] |= 1 << UInt8(bit % 8)
          }
          switch word {
          case .mayRead:
            try expectReadable(files, specimen)
            expectUnsupported(files, .readWrite, features: feature)
          case .mayWrite:
            try expectReadable(files, specimen)
            try expectKept(feature, by: files, specimen)
          case .mustUnderstand where feature == MetaSlot.Features.encrypted:
            expectLocked(files)
          case .mustUnderstand:
            expectUnsupported(files, .readOnly, features: feature)
            expectUnsupported(files, .readWrite, features: feature)
          }
        }
      }
    }
  }

  /// Whoever writes without knowing a feature leaves its bit where it was, in both slots.
  private func expectKept(
    _ feature: UInt64, by files: MemoryDirectory, _ specimen: Specimen
  ) throws {
    let database = try open(files, .readWrite)
    _ = try database.put([1], [1], tree: 9)
    try database.checkpoint()
    try database.close()
    let metas = Anatomy.metas(in: try #require(files[Specimen.storeName]))
    #expect(metas.count == 2)
    for meta in metas { #expect(meta.features.mayWrite == feature) }
    let reopened = try open(files, .readWrite)
    #expect(try reopened.state().contents.count == specimen.states[specimen.lastLSN].count + 1)
  }

  /// A newer version may have been stopped between its two slots.
  @Test func oneSlotOfAnotherVersionIsEnoughToRefuse() throws {
    for specimen in [try Specimen.closed(), try Specimen.inUse()] {
      for slots in [[0], [1], [0, 1]] {
        for version in [0, 2, 255, .max] as [UInt32] {
          let files = try changed(specimen, slots: slots) { bytes, offset in
            Forge.store(UInt64(version), 4, in: &bytes, at: offset + 8)
          }
          expectUnsupported(files, .readOnly, version: version)
          expectUnsupported(files, .readWrite, version: version)
        }
        let files = try changed(specimen, slots: slots) { $0[$1 + 16 + 16] = 4 }
        expectUnsupported(files, .readWrite, features: 4)
      }
    }
  }
}
