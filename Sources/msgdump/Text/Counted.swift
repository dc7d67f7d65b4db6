extension Int {
  /// So many of something, in words that agree: `1 page`, `2 pages`.
  func counted(_ thing: String) -> String { counted(thing, thing + "s") }

  /// The same where more than one of them are called something else: `1 entry`, `2 entries`.
  func counted(_ thing: String, _ things: String) -> String {
    "\(self) \(self == 1 ? thing : things)"
  }
}
