/// The result of checking a text while it is composed and before it is sent.
public struct TextValidation: Sendable, Equatable {
  /// The reason why a text cannot be sent.
  public enum Problem: Sendable, Equatable {
    /// The text is only white space, and there is no attachment.
    case empty
    /// The trimmed text has too many characters.
    ///
    /// `count` is exact up to `TextLimits.maximumSurplusCount` above the limit and goes no higher.
    case tooManyCharacters(count: Int, limit: Int)
    /// The whole text has too many UTF-8 bytes.
    case tooManyBytes(count: Int, limit: Int)
  }

  /// The reason why the text cannot be sent; nil if it can.
  public let problem: Problem?
  /// The number of characters that may be added to the trimmed text; if negative, the excess.
  ///
  /// It goes no lower than `-TextLimits.maximumSurplusCount`, which means "at least this excess".
  /// The characters of a text with too many bytes are not counted; the value is then 0.
  public let characterCountLeft: Int
  /// The number of bytes that may be added to the whole text; if negative, the excess.
  public let byteCountLeft: Int

  /// True if the text can be sent.
  public var isValid: Bool { problem == nil }
}
