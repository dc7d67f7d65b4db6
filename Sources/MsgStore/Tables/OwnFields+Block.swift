import PageFile

/// Own fields as a part of a record.
///
/// See docs/message-format.md, X-9. Read and written by hand, as the traits are.
///
///     size  field
///        1  count
///           of each, ascending by the bytes of the names:
///        1  flags: 1 local, 2 with a time, 4 with a value, 8 with a large one
///      1+n  name, its byte count first; empty for the kind
///        8  with flag 2: time
///      1–2  with flag 4: byte count of the value, varint; the value
///      2–3  with flag 8: byte count of the value, varint
///        8  with flag 8: digest of the value
extension OwnFields {
  private enum Flag {
    static let local: UInt8 = 1
    static let time: UInt8 = 2
    static let value: UInt8 = 4
    static let large: UInt8 = 8
  }

  /// One field, in bytes that were checked.
  private struct Parsed {
    var flags: UInt8
    var name: Bytes
    var time: Int64?
    var value: Bytes
    var byteCount = 0
    var digest: UInt64 = 0
  }

  private static func parse(_ reader: inout ByteReader) -> Parsed? {
    guard let flags = reader.byte(), flags < 16, flags & 12 != 12, let length = reader.byte(),
      length <= OwnField.maximumNameByteCount, let name = reader.take(Int(length)), name.isText
    else { return nil }
    var parsed = Parsed(flags: flags, name: name, value: .empty)
    if flags & Flag.time != 0 {
      guard let time = reader.uint64() else { return nil }
      parsed.time = Int64(bitPattern: time)
    }
    if flags & Flag.value != 0 {
      guard let byteCount = reader.length(), byteCount <= OwnField.maximumPackedByteCount,
        let value = reader.take(byteCount)
      else { return nil }
      parsed.value = value
    }
    if flags & Flag.large != 0 {
      guard let byteCount = reader.varint(),
        UInt64(OwnField.maximumPackedByteCount) + 1...UInt64(OwnField.maximumByteCount)
          ~= byteCount,
        let digest = reader.uint64()
      else { return nil }
      (parsed.byteCount, parsed.digest) = (Int(byteCount), digest)
    }
    if length == 0 {
      guard flags & (Flag.local | Flag.large) == 0 else { return nil }
      if flags & Flag.value != 0 {
        guard 1...OwnField.maximumKindByteCount ~= parsed.value.count, parsed.value.isText else {
          return nil
        }
      }
    }
    return parsed
  }

  /// Runs `body` on each field; returns false if the bytes are not valid ones.
  private static func forEach(
    _ reader: inout ByteReader, _ body: (Parsed) -> Void
  ) -> Bool {
    guard let count = reader.byte(), 1...OwnField.maximumCount + 1 ~= Int(count) else {
      return false
    }
    var last: Bytes?
    var namedCount = 0
    for _ in 0..<count {
      guard let parsed = parse(&reader) else { return false }
      if let last, last.compare(to: parsed.name) >= 0 { return false }
      last = parsed.name
      if parsed.name.count > 0 { namedCount += 1 }
      body(parsed)
    }
    return namedCount <= OwnField.maximumCount
  }

  /// Reads what `append` has written.
  init?(_ reader: inout ByteReader) {
    self.init()
    var all: [OwnRegister] = []
    let isValid = Self.forEach(&reader) { parsed in
      let content: OwnRegister.Content =
        parsed.flags & Flag.value != 0
        ? .value(parsed.value.array())
        : parsed.flags & Flag.large != 0
          ? .large(byteCount: parsed.byteCount, digest: parsed.digest) : .removed
      all.append(
        OwnRegister(
          name: parsed.name.array(), time: parsed.time,
          isLocal: parsed.flags & Flag.local != 0, content: content))
    }
    guard isValid else { return nil }
    self.init(sorted: all)
  }

  /// Reads past what `append` has written, and returns true if it is valid.
  static func check(_ reader: inout ByteReader) -> Bool { forEach(&reader) { _ in } }

  func append(to buffer: inout ByteBuffer) {
    buffer.append(UInt8(truncatingIfNeeded: all.count))
    for register in all {
      var flags: UInt8 = register.isLocal ? Flag.local : 0
      if register.time != nil { flags |= Flag.time }
      switch register.content {
      case .removed: break
      case .value: flags |= Flag.value
      case .large: flags |= Flag.large
      }
      buffer.append(flags)
      buffer.append(UInt8(truncatingIfNeeded: register.name.count))
      buffer.append(register.name)
      if let time = register.time { buffer.append(time: time) }
      switch register.content {
      case .removed: break
      case .value(let bytes):
        buffer.append(varint: UInt64(bytes.count))
        buffer.append(bytes)
      case .large(let byteCount, let digest):
        buffer.append(varint: UInt64(byteCount))
        buffer.append(littleEndian: digest)
      }
    }
  }
}
