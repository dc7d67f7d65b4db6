/// An engine that finds messages by their texts.
protocol SearchEngine: Engine {
  /// True if capitals of ASCII are the only ones that do not count.
  var foldsASCIIOnly: Bool { get }
  /// Reads the newest messages whose texts have a term, newest first.
  ///
  /// - Parameter conversation: The only one to search; nil for all.
  func search(_ term: String, in conversation: Int?, count: Int) throws -> Reading
  /// Returns the number of messages whose texts have a term.
  ///
  /// Not timed.
  func matchCount(_ term: String) throws -> Int
  /// The bytes of what only the search needs.
  var indexByteCount: Int { get throws }
}
