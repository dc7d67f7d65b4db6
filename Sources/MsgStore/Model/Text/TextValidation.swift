/// What is to be said about a text while it is composed, and before it is sent.
public struct TextValidation: Sendable, Hashable {
  /// Why a text cannot be sent.
  public enum Problem: Sendable, Hashable {
    /// There is nothing but white space, and no attachment.
    case empty
    /// There are too many characters in the trimmed text.
    ///
    /// `count` is exact up to `TextLimits.surplusCountMax` above the limit, and goes no higher.
    case tooManyCharacters(count: Int, limit: Int)
    /// There are too many bytes of UTF-8 in the whole text.
    case tooManyBytes(count: Int, limit: Int)
  }

  /// Why the text cannot be sent; nil when it can.
  public let problem: Problem?
  /// How many more characters the trimmed text may have; below zero, how many it has to lose.
  ///
  /// It goes no lower than `-TextLimits.surplusCountMax`, which says "as many or more". A text with
  /// too many bytes is not counted, and nothing is left: 0.
  public let characterCountLeft: Int
  /// How many more bytes the whole text may have; below zero, how many it has to lose.
  public let byteCountLeft: Int

  /// Whether the text can be sent.
  public var isValid: Bool { problem == nil }
}
