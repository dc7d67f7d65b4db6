import PageFile

/// Names and dictionaries that were looked up in one life of the store: from its opening, or from
/// resuming, to the next time it is resumed; and what one writer leaves to the next.
///
/// Resuming may find a store without the commits that a failing disk has lost, and then a number that
/// was given in one of them is given to somebody else. So what is known goes with the transaction
/// that asks: a later life begins with nothing, and an earlier one keeps nothing.
package struct KnownNames: Sendable {
  private var life = 0
  private let shares: MemoryShares
  private var names: MemberNames
  private var dictionaries = Dictionaries()
  /// What the next writer begins with, if it begins with that commit.
  private var memory: (lsn: LSN, memory: WriterMemory)?

  package init(_ names: MemberNames, _ shares: MemoryShares) {
    self.names = names
    self.shares = shares
  }

  private mutating func begin(_ life: Int) -> Bool {
    if life > self.life {
      self = KnownNames(newNames, shares)
      self.life = life
    }
    return life == self.life
  }

  private var newNames: MemberNames { MemberNames(byteCountMax: shares.memberNames) }

  /// The names for a transaction of some life.
  package mutating func names(in life: Int) -> MemberNames {
    guard begin(life) else { return newNames }
    if names.isFull { names = newNames }
    return names
  }

  /// The dictionaries for a transaction of some life.
  mutating func dictionaries(in life: Int) -> Dictionaries {
    begin(life) ? dictionaries : Dictionaries()
  }

  /// Takes out what the writer before has left, for the one writer: if it fails, the next begins with
  /// nothing, and so it does when anything was committed since.
  mutating func takeMemory(of lsn: LSN, in life: Int) -> WriterMemory {
    guard begin(life), let memory, memory.lsn == lsn else {
      return WriterMemory(shares)
    }
    self.memory = nil
    return memory.memory
  }

  /// Takes it out for somebody who only looks.
  mutating func lend(_ lsn: LSN) -> (WriterMemory, life: Int)? {
    guard let memory, memory.lsn == lsn else { return nil }
    self.memory = nil
    return (memory.memory, life)
  }

  /// Takes it back, unless a writer has left another meanwhile.
  mutating func giveBack(_ memory: WriterMemory, of lsn: LSN, in life: Int) {
    if self.memory == nil, life == self.life { self.memory = (lsn, memory) }
  }

  /// Keeps what a writer leaves that has committed.
  mutating func keep(_ memory: WriterMemory, of lsn: LSN, in life: Int) {
    if begin(life) { self.memory = (lsn, memory) }
  }
}
