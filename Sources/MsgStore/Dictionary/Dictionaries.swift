import PageFile

/// The dictionaries of one store that were read, for everybody who reads from it.
///
/// What a number stands for never changes once it was committed, so this only grows, by at most
/// 64 KiB for each that is in use. See docs/message-format.md, D-1 … D-5.
final class Dictionaries: Sendable {
  private let known = Locked<[UInt32: CompressionDictionary]>([:])

  subscript(number: UInt32) -> CompressionDictionary? {
    number == 0 ? CompressionDictionary.none : known.withLock { $0[number] }
  }

  func insert(_ dictionary: CompressionDictionary) {
    known.withLock { $0[dictionary.version] = dictionary }
  }
}

/// The keys of dictionaries in the settings tree, behind all settings.
///
///     0xFF, number (4), copy (1)                byte count (4), checksum of all bytes (8)
///     0xFF, number (4), copy (1), piece (2)     up to 512 bytes
///
/// Numbers begin at 1 and only rise. A dictionary is there twice, in pieces that lie in leaves: so a
/// lost page costs none of it, and two lost pages only if they hold the same piece.
enum DictionaryKey {
  static let pieceByteCount = 512
  static let copyCount: UInt8 = 2

  /// No name of a setting begins like this.
  static let mark: UInt8 = 0xFF

  static func prefix(_ number: UInt32) -> ByteBuffer {
    var key = ByteBuffer()
    key.append(mark)
    key.append(bigEndian: number)
    return key
  }

  static func head(_ number: UInt32, copy: UInt8) -> ByteBuffer {
    var key = prefix(number)
    key.append(copy)
    return key
  }

  static func piece(_ number: UInt32, copy: UInt8, _ index: Int) -> ByteBuffer {
    var key = head(number, copy: copy)
    key.append(UInt8(truncatingIfNeeded: index >> 8))
    key.append(UInt8(truncatingIfNeeded: index))
    return key
  }

  static func headValue(of bytes: Bytes, number: UInt32) -> ByteBuffer {
    var value = ByteBuffer()
    value.append(littleEndian: UInt32(bytes.count))
    value.append(littleEndian: checksum(of: bytes, number: number))
    return value
  }

  static func checksum(of bytes: Bytes, number: UInt32) -> UInt64 {
    Checksum.of(bytes, seed: Checksum.seed(UInt64(number)))
  }

  /// Puts a dictionary together from its pieces; nil when what was found is not all of it.
  ///
  /// - Parameter value: Looks for the value of a key; false when it is not there or is lost.
  static func assemble(
    _ number: UInt32, _ value: (Bytes, inout ByteBuffer) -> Bool
  ) -> CompressionDictionary? {
    func first(_ key: (UInt8) -> ByteBuffer, _ buffer: inout ByteBuffer) -> Bool {
      for copy in 0..<copyCount {
        let key = key(copy)
        if value(key.bytes, &buffer) { return true }
      }
      return false
    }
    var head = ByteBuffer()
    guard first({ self.head(number, copy: $0) }, &head), head.count == 12,
      case let byteCount = Int(head.bytes.uint32(at: 0)),
      byteCount <= CompressionDictionary.byteCountMax
    else { return nil }
    var bytes = ByteBuffer(capacity: byteCount)
    var index = 0
    while bytes.count < byteCount {
      let before = bytes.count
      guard first({ piece(number, copy: $0, index) }, &bytes), bytes.count > before else {
        return nil
      }
      index += 1
    }
    guard bytes.count == byteCount,
      checksum(of: bytes.bytes, number: number) == head.bytes.uint64(at: 4)
    else { return nil }
    return CompressionDictionary(bytes.bytes, version: number)
  }
}

extension StoreReader {
  /// A dictionary of the store.
  ///
  /// One lookup in memory but for the first time, which reads up to 64 KiB.
  ///
  /// - Throws: `corruptRecord` when both copies are damaged at the same place, or there is none of
  ///   this number; `storage` for a page that cannot be read.
  func dictionary(_ number: UInt32) throws(StoreError) -> CompressionDictionary {
    if let known = dictionaries[number] { return known }
    var failure: StoreError?
    let found = DictionaryKey.assemble(number) { (key, value) in
      do throws(StoreError) {
        return try self.value(of: key, in: Schema.settings, appendTo: &value)
      } catch {
        failure = error
        return false
      }
    }
    guard let found else {
      throw failure
        ?? corrupt(Schema.settings, "dictionary \(number) is not there, or is damaged")
    }
    if keepsDictionaries { dictionaries.insert(found) }
    return found
  }

  /// The number of the newest dictionary; 0 when there is none.
  func newestDictionary() throws(StoreError) -> UInt32 {
    guard source.root(of: Schema.settings) != .none else { return 0 }
    var cursor = Cursor(source, Schema.settings)
    let isThere = try storage { () throws(PageFileError) in try cursor.last() }
    guard isThere else { return 0 }
    var key = ByteBuffer()
    cursor.appendKey(to: &key)
    guard key.bytes[0] == DictionaryKey.mark else { return 0 }
    guard let number = key.bytes.bigEndianNumber(at: 1), number > 0 else {
      throw corrupt(Schema.settings, "a key of \(key.count) bytes is none of a dictionary")
    }
    return number
  }
}

extension WriteState {
  /// Stores a dictionary, which the segments that are packed from now on use.
  ///
  /// False, and nothing stored, when there is another newest one than was expected.
  func add(
    _ bytes: Bytes, number: UInt32, ifNewestIs expected: UInt32
  ) throws(StoreError) -> Bool {
    try change { () throws(StoreError) in
      guard try reader.newestDictionary() == expected else { return false }
      hasAdded = true
      // Until this is committed its number may still be given to another.
      stopKeepingDictionaries()
      for copy in 0..<DictionaryKey.copyCount { try add(bytes, number: number, copy: copy) }
      return true
    }
  }

  private func add(_ bytes: Bytes, number: UInt32, copy: UInt8) throws(StoreError) {
    let head = DictionaryKey.headValue(of: bytes, number: number)
    let key = DictionaryKey.head(number, copy: copy)
    try insert(key.bytes, head.bytes, in: Schema.settings)
    var offset = 0
    while offset < bytes.count {
      let key = DictionaryKey.piece(number, copy: copy, offset / DictionaryKey.pieceByteCount)
      let count = min(DictionaryKey.pieceByteCount, bytes.count - offset)
      try insert(key.bytes, bytes.slice(offset, count), in: Schema.settings)
      offset += count
    }
  }

  /// Removes all dictionaries but the newest, when everything has been packed anew.
  func removeOldDictionaries() throws(StoreError) {
    try change { () throws(StoreError) in
      let newest = try reader.newestDictionary()
      var prefix = ByteBuffer()
      prefix.append(DictionaryKey.mark)
      var key = ByteBuffer()
      while try reader.firstKey(prefix.bytes, in: Schema.settings, to: &key),
        let number = key.bytes.bigEndianNumber(at: 1), number != newest
      {
        try remove(key.bytes, in: Schema.settings)
      }
    }
  }
}
