import PageFile

/// Names and numbers that were looked up in one life of the store: from its opening, or from
/// resuming, to the next time it is resumed.
///
/// Resuming may find a store without the commits that a failing disk has lost, and then a number that
/// was given in one of them is given to somebody else. So what is known goes with the transaction
/// that asks: a later life begins with nothing, and an earlier one keeps nothing.
struct KnownNames: Sendable {
  private var life = 0
  private var names: MemberNames
  /// What the next writer begins with.
  private var numbers = NameNumbers()

  init(_ names: MemberNames) { self.names = names }

  private mutating func begin(_ life: Int) -> Bool {
    if life > self.life {
      self = KnownNames(MemberNames())
      self.life = life
    }
    return life == self.life
  }

  /// The names for a transaction of some life.
  mutating func names(in life: Int) -> MemberNames { begin(life) ? names : MemberNames() }

  /// Takes out the numbers, for the one writer: if it fails, the next begins with nothing.
  mutating func takeNumbers(in life: Int) -> NameNumbers {
    guard begin(life) else { return NameNumbers() }
    defer { numbers = NameNumbers() }
    return numbers
  }

  /// Keeps the numbers of a writer that has committed.
  mutating func keep(_ numbers: NameNumbers, of life: Int) {
    if begin(life) { self.numbers = numbers }
  }
}
