/// One thing that is wrong in a store file.
public struct Finding: Sendable, Hashable, CustomStringConvertible {
  /// The page it is about, where it is about one.
  public var page: PageNumber?
  /// What is wrong, as a sentence without its subject.
  public var description: String

  /// Makes a finding.
  public init(page: PageNumber? = nil, _ description: String) {
    self.page = page
    self.description = page.map { "page \($0): \(description)" } ?? description
  }
}
