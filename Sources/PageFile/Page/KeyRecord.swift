/// The record that holds a store's data key, sealed under a key of the app.
///
///     offset  size  field
///          0     4  cipher
///          4     4  number of the app's key: 1 for the one that the store was made with
///          8    16  name of the app's key
///         24    12  nonce
///         36    32  sealed data key
///         68    16  tag
///
/// It lies in both meta slots and in the headers of both WAL files. Its first 24 bytes, the store
/// id, the format version and the page size are the context of the seal.
///
///  1. The name follows from the app's key and the store id by HKDF. It commits to the key, which
///     the seal alone would not, and tells a wrong key from damage.
package struct KeyRecord: Sendable, Equatable {
  package static let byteCount = 84
  static let nameByteCount = 16
  private static let nameOffset = 8
  private static let sealOffset = 24

  package let bytes: [UInt8]

  /// Takes a record out of the bytes of its place.
  package init(_ bytes: Bytes) {
    precondition(bytes.count == Self.byteCount, "key record: wrong length")
    self.bytes = bytes.array()
  }

  var cipher: UInt32 { Bytes.with(bytes) { $0.uint32(at: 0) } }
  var number: UInt32 { Bytes.with(bytes) { $0.uint32(at: 4) } }
  var name: [UInt8] { Array(bytes[Self.nameOffset..<Self.sealOffset]) }

  /// Seals a data key.
  static func make(
    dataKey: Bytes, number: UInt32, storeID: StoreID, pageByteCount: Int,
    under appKey: AppKey
  ) -> KeyRecord {
    var record = ByteBuffer(capacity: byteCount)
    record.append(littleEndian: appKey.cipher.number)
    record.append(littleEndian: number)
    record.append(appKey.name)
    record.append(zeros: byteCount - sealOffset)
    let context = context(record.bytes, storeID, pageByteCount)
    appKey.wrap.seal(
      dataKey, context: context.bytes,
      into: record.mutableBytes.slice(sealOffset, byteCount - sealOffset))
    return KeyRecord(record.bytes)
  }

  /// Writes the data key to `dataKey`; returns false if the record does not open.
  func open(
    under appKey: AppKey, storeID: StoreID, pageByteCount: Int, into dataKey: MutableBytes
  ) -> Bool {
    Bytes.with(bytes) { record in
      let context = Self.context(record, storeID, pageByteCount)
      return appKey.wrap.open(
        record.dropFirst(Self.sealOffset), context: context.bytes, into: dataKey)
    }
  }

  private static func context(
    _ record: Bytes, _ storeID: StoreID, _ pageByteCount: Int
  ) -> ByteBuffer {
    var context = ByteBuffer(capacity: 64)
    context.append(storeID)
    context.append(littleEndian: UInt64(MetaSlot.formatVersion))
    context.append(littleEndian: UInt64(pageByteCount))
    context.append(littleEndian: UInt64(record.uint32(at: 0)))
    context.append(littleEndian: UInt64(record.uint32(at: 4)))
    context.append(record.slice(nameOffset, nameByteCount))
    return context
  }
}

/// A key of the app, as it is used for one store.
struct AppKey {
  let cipher: any PageCipher
  /// Seals data keys.
  let wrap: any PageCipher
  let name: [UInt8]
  /// The derivation from the key, of which those from data keys are made.
  let derivation: KeyDerivation

  @inline(never)
  init(_ cipher: any PageCipher, for storeID: StoreID) {
    self.cipher = cipher
    derivation = cipher.derivation(for: storeID)
    wrap = cipher.keyed(with: derivation, "msgstore 1 wrap")
    var name = ByteBuffer(capacity: KeyRecord.nameByteCount)
    derivation.derive("msgstore 1 name", name.extend(by: KeyRecord.nameByteCount))
    self.name = name.bytes.array()
  }
}

extension PageCipher {
  /// Returns the derivation of bytes from the key for one store.
  func derivation(for storeID: StoreID) -> KeyDerivation {
    var salt = ByteBuffer(capacity: StoreID.byteCount)
    salt.append(storeID)
    return derivation(salt: salt.bytes)
  }

  /// Returns the cipher under a derived key, for one use.
  func keyed(with derivation: KeyDerivation, _ info: String) -> any PageCipher {
    var key = ByteBuffer(capacity: SealedUnit.keyByteCount)
    derivation.derive(info, key.extend(by: SealedUnit.keyByteCount))
    defer { key.mutableBytes.zero(0, key.count) }
    return keyed(with: key.bytes)
  }
}
