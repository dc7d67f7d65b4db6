/// Sentences for logs, as other public values have them.

extension LiveSlice: CustomStringConvertible {
  /// The messages and the differences.
  public var description: String { "\(slice), \(differences)" }
}

extension LiveConversationSlice: CustomStringConvertible {
  /// The conversations and the differences.
  public var description: String { "\(conversations), \(differences)" }
}

extension LiveDifferences: CustomStringConvertible {
  /// The number of elements of each kind of difference.
  public var description: String {
    let counts = [
      (inserted.count, "inserted"), (removed.count, "removed"), (moved.count, "moved"),
      (changed.count, "changed"),
    ]
    let ends = [(isOlderChanged, "older changed"), (isNewerChanged, "newer changed")]
    let parts =
      counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" } + ends.filter(\.0).map(\.1)
    return parts.isEmpty ? "no differences" : parts.joined(separator: ", ")
  }
}
