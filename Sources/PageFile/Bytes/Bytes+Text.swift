/// Text stored as bytes: validated once when it is read, then made into strings without another
/// check.
///
/// Making a string of 60 bytes costs one allocation and little else if it is not validated again,
/// so validation and conversion are separate steps.
extension Bytes {
  /// True if all bytes are below 128, which makes them valid UTF-8 without further checks.
  ///
  /// Done a word at a time, this takes a tenth of the standard library's validation time for a
  /// short text.
  @inlinable @inline(__always)
  package var isASCII: Bool {
    var bits: UInt64 = 0
    var offset = 0
    while offset + 8 <= count {
      bits |= unsafe base.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      offset += 8
    }
    if count >= 8 {
      // The remaining bytes, overlapping some that were already checked.
      bits |= unsafe base.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
    } else {
      while offset < count {
        bits |= UInt64(unsafe base.load(fromByteOffset: offset, as: UInt8.self))
        offset += 1
      }
    }
    return bits & 0x8080_8080_8080_8080 == 0
  }

  /// Returns the number of bytes below 128 from an offset on, up to the first other one.
  @inlinable
  package func asciiByteCount(from start: Int) -> Int {
    var offset = start
    while offset &+ 8 <= count {
      let bits = unsafe base.loadUnaligned(fromByteOffset: offset, as: UInt64.self).littleEndian
      let high = bits & 0x8080_8080_8080_8080
      if high != 0 { return offset &- start &+ high.trailingZeroBitCount / 8 }
      offset &+= 8
    }
    while offset < count, unsafe base.load(fromByteOffset: offset, as: UInt8.self) < 0x80 {
      offset &+= 1
    }
    return offset &- start
  }

  /// True if the bytes are valid UTF-8.
  @inlinable
  package var isValidUTF8: Bool { isASCII || validUTF8ByteCount == count }

  /// Returns the bytes as a string without validating them.
  ///
  /// Only for bytes that passed `isValidUTF8` or came from a string.
  @inlinable @unsafe
  package func uncheckedText() -> String { unsafe uncheckedText(isASCII: isASCII) }

  /// Returns the bytes as a string without validating them, for callers that know if they are
  /// ASCII.
  @inlinable @unsafe
  package func uncheckedText(isASCII: Bool) -> String {
    unsafe withUnsafeBytes { (buffer: UnsafeRawBufferPointer) -> String in
      // Older systems of Apple's make no string without validating its bytes once more.
      guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
        return unsafe String(decoding: buffer, as: UTF8.self)
      }
      let span = unsafe Span<UInt8>(_unsafeBytes: buffer)
      return unsafe String(copying: UTF8Span(unchecked: span, isKnownASCII: isASCII))
    }
  }

  /// Returns the bytes as a string, replacing invalid UTF-8.
  package func repairedText() -> String {
    unsafe withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
  }
}

extension String {
  /// Calls `body` with the UTF-8 bytes of the string, in place unless they are few or elsewhere.
  ///
  /// `utf8Span` does the same, but exists only on Apple's systems of 2025.
  package func withUTF8Bytes<R>(_ body: (Span<UInt8>) -> R) -> R {
    var string = self
    return string.withUTF8 { buffer in
      // Unsafe: the span ends with the closure.
      body(unsafe Span(_unsafeElements: buffer))
    }
  }
}
