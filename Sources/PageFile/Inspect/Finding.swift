/// A fault found in a store file.
public struct CheckFinding: Sendable, Equatable, CustomStringConvertible {
  /// The page that the finding is about, if it is about one.
  public var page: PageNumber?
  /// The fault in words, preceded by the page if there is one.
  public var description: String

  /// Creates a finding.
  public init(page: PageNumber? = nil, _ description: String) {
    self.page = page
    self.description = page.map { "page \($0): \(description)" } ?? description
  }
}
