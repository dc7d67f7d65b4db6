import PageFile

/// Limits on texts composed here, for sending and editing.
///
/// A check changes nothing: a text is stored exactly as given. Received texts are not checked
/// against these limits.
public struct TextLimits: Sendable, Equatable {
  /// The most characters in the trimmed text, as a person counts them: extended grapheme clusters,
  /// each flag or family being one.
  public let maximumCharacterCount: Int
  /// The most UTF-8 bytes in the whole text.
  public let maximumByteCount: Int

  /// The most bytes of text that any store keeps: 1 MiB.
  public static let maximumStoredByteCount = 1 << 20
  /// The number of characters counted beyond the limit; showing a larger excess is of no use.
  public static let maximumSurplusCount = 1000

  /// Creates limits, by default 10,000 characters and 1 MiB.
  ///
  /// Limits are clamped to 0 through `maximumStoredByteCount`, the most that any store keeps.
  public init(
    maximumCharacterCount: Int = 10_000, maximumByteCount: Int = TextLimits.maximumStoredByteCount
  ) {
    self.maximumCharacterCount = min(max(maximumCharacterCount, 0), Self.maximumStoredByteCount)
    self.maximumByteCount = min(max(maximumByteCount, 0), Self.maximumStoredByteCount)
  }

  /// Checks whether a text can be sent, and returns the remaining room.
  ///
  /// Trimming removes scalars with the Unicode property White_Space from both ends, one by one; all
  /// newlines have the property, the zero width space does not.
  ///
  /// Cost for a text of 1 MiB on one core of a server: 0.03 ms for letters, 0.17 ms for families of
  /// four, 0.1 ms for white space or marks from U+0300 on, 0.4 to 0.8 ms for any other marks or
  /// joiners in regular order. Only a single character of 1 MiB whose marks vary randomly in byte
  /// count takes longer, 2.8 ms. The first call builds a table in 0.1 ms.
  public func check(_ text: String, hasAttachment: Bool = false) -> TextValidation {
    text.withUTF8Bytes { check($0, hasAttachment) }
  }

  private func check(_ bytes: Span<UInt8>, _ hasAttachment: Bool) -> TextValidation {
    let byteCountLeft = maximumByteCount - bytes.count
    guard byteCountLeft >= 0 else {
      return TextValidation(
        problem: .tooManyBytes(count: bytes.count, limit: maximumByteCount), characterCountLeft: 0,
        byteCountLeft: byteCountLeft)
    }
    let trimmed = WhiteSpace.trimmed(bytes)
    let count = CharacterBreaks.count(
      bytes, trimmed, maximumCount: maximumCharacterCount + Self.maximumSurplusCount)
    let problem: TextValidation.Problem? =
      if trimmed.isEmpty && !hasAttachment {
        .empty
      } else if count > maximumCharacterCount {
        .tooManyCharacters(count: count, limit: maximumCharacterCount)
      } else {
        nil
      }
    return TextValidation(
      problem: problem, characterCountLeft: maximumCharacterCount - count,
      byteCountLeft: byteCountLeft)
  }
}
