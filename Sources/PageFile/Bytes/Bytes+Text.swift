/// Text in bytes: checked once when it is read, then made into strings without a second look.
///
/// Making a string of 60 bytes costs one allocation and little else as long as nothing validates it
/// again, so the two steps are apart.
extension Bytes {
  /// Whether all bytes are below 128: valid UTF-8 without looking any closer.
  ///
  /// A word at a time, this takes a tenth of what the standard library's validation takes for a
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
      // What is left, with some that was seen already.
      bits |= unsafe base.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
    } else {
      while offset < count {
        bits |= UInt64(unsafe base.load(fromByteOffset: offset, as: UInt8.self))
        offset += 1
      }
    }
    return bits & 0x8080_8080_8080_8080 == 0
  }

  /// Whether the bytes are valid UTF-8.
  @inlinable
  package var isValidUTF8: Bool { isASCII || isValidBeyondASCII }

  @usableFromInline
  package var isValidBeyondASCII: Bool {
    unsafe withUnsafeBytes { (buffer: UnsafeRawBufferPointer) -> Bool in
      let span = unsafe Span<UInt8>(_unsafeBytes: buffer)
      do throws(UTF8.ValidationError) {
        _ = try UTF8Span(validating: span)
        return true
      } catch {
        return false
      }
    }
  }

  /// The bytes as a string.
  ///
  /// Only for bytes that `isValidUTF8` has seen, or that came from a string.
  @inlinable @unsafe
  package func uncheckedText() -> String { unsafe uncheckedText(isASCII: isASCII) }

  /// The same, for whoever knows whether the bytes are ASCII.
  @inlinable @unsafe
  package func uncheckedText(isASCII: Bool) -> String {
    unsafe withUnsafeBytes { (buffer: UnsafeRawBufferPointer) -> String in
      let span = unsafe Span<UInt8>(_unsafeBytes: buffer)
      return unsafe String(copying: UTF8Span(unchecked: span, isKnownASCII: isASCII))
    }
  }

  /// The bytes as a string, whatever they are: what is not UTF-8 is replaced.
  package func repairedText() -> String {
    unsafe withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
  }
}
