extension Int {
  /// So many of something, in words that agree: `1 page`, `2 pages`.
  func counted(_ thing: String) -> String { "\(self) \(thing)\(self == 1 ? "" : "s")" }
}
