extension Int {
  /// Returns a count with its noun in agreement: `1 page`, `2 pages`.
  package func counted(_ thing: String) -> String { counted(thing, thing + "s") }

  /// Returns a count with its noun in agreement, given both forms: `1 entry`, `2 entries`.
  package func counted(_ thing: String, _ things: String) -> String {
    "\(self) \(self == 1 ? thing : things)"
  }
}
