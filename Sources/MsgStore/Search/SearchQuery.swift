/// The terms that a search looks for, and the messages that it looks in.
///
/// A text is split into *terms* at white space. Quotes, `"`, `“`, `”`, `„`, `«`, or `»`, keep a
/// phrase together; one that is not closed runs to the end. A message matches if each term occurs
/// in its text or in the file name of one of its attachments, at any place: parts of words, of
/// links, and single characters are found in every script.
///
/// Letter case, width, and ligatures never count (NFKC_Casefold of Unicode 14). Accents on Latin
/// and Greek letters, Arabic and Hebrew vowels, the dots of ё, and skin tones do not count in a
/// term that has none of them: `cafe` finds `café`, and `café` finds only `café`. White space in a
/// phrase matches any run of white space. Emoji and flags match as a whole.
public struct SearchQuery: Sendable, Hashable {
  /// The maximum byte count of a text.
  public static let maximumByteCount = 4096

  /// The text that the query was made of.
  public let text: String
  /// True if accents, vowel marks, and skin tones count in all terms.
  public let isStrict: Bool
  /// The only conversation to search, by any of its ids; nil for all that lists show.
  public var conversation: ConversationID?
  /// The only author whose messages are found; nil for all.
  public var sender: MemberID?
  /// True if only messages of the local member are found; without one, no message is.
  public var isFromLocalMember = false
  /// The server times of the messages that are found, or the local times of pending ones; nil for
  /// all.
  public var times: ClosedRange<Timestamp>?
  /// The kind of attachment that a message must have to be found; nil for all messages.
  public var attachmentKind: AttachmentKind?

  let terms: [SearchTerm]

  /// Creates a query for all messages.
  ///
  /// - Parameters:
  ///   - text: The terms, at most `maximumByteCount` bytes.
  ///   - isStrict: True to let accents, vowel marks, and skin tones count in all terms.
  /// - Throws: `input(.tooLong)`; `input(.emptyQuery)` if nothing is left after folding, as with
  ///   white space, quotes, or variation selectors alone.
  public init(_ text: String, isStrict: Bool = false) throws(StoreError) {
    let byteCount = text.utf8.count
    guard byteCount <= Self.maximumByteCount else {
      throw .input(.tooLong(.query, byteCount: byteCount, limit: Self.maximumByteCount))
    }
    terms = SearchTerm.terms(of: text, isStrict: isStrict)
    guard !terms.isEmpty else { throw .input(.emptyQuery) }
    self.text = text
    self.isStrict = isStrict
  }
}
