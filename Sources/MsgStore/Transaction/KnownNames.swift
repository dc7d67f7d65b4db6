import PageFile

/// A cache of names and dictionaries that is valid for one life of the store, and the memory that
/// one writer hands to the next.
///
/// A life of the store begins when the store is opened or resumed and ends at the next resume.
/// Resuming may find a store without commits that a failing disk has lost; a number assigned in one
/// of them may then be assigned to another name. So each transaction states its life: a later life
/// begins with an empty cache, and a transaction of an earlier life can store nothing.
package struct KnownNames: Sendable {
  private var life = 0
  private let shares: MemoryShares
  private var names: MemberNames
  private var dictionaries = Dictionaries()
  /// The memory for the next writer, valid if its transaction begins with that commit.
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

  private var newNames: MemberNames { MemberNames(maximumByteCount: shares.memberNames) }

  /// Returns the member names for a transaction of a life.
  package mutating func names(in life: Int) -> MemberNames {
    guard begin(life) else { return newNames }
    if names.isFull { names = newNames }
    return names
  }

  /// Returns the dictionaries for a transaction of a life.
  mutating func dictionaries(in life: Int) -> Dictionaries {
    begin(life) ? dictionaries : Dictionaries()
  }

  /// Takes out the memory that the previous writer left, for the one writer.
  ///
  /// If that writer fails, the next one begins with nothing, as it does when another commit came in
  /// between.
  mutating func takeMemory(of lsn: LSN, in life: Int) -> WriterMemory {
    guard begin(life), let memory, memory.lsn == lsn else {
      return WriterMemory(shares)
    }
    self.memory = nil
    return memory.memory
  }

  /// Takes the memory out for a caller that only reads it.
  mutating func lend(_ lsn: LSN) -> (WriterMemory, life: Int)? {
    guard let memory, memory.lsn == lsn else { return nil }
    self.memory = nil
    return (memory.memory, life)
  }

  /// Takes the memory back, unless a writer has left another one meanwhile.
  mutating func returnWork(_ memory: WriterMemory, of lsn: LSN, in life: Int) {
    if self.memory == nil, life == self.life { self.memory = (lsn, memory) }
  }

  /// Keeps the memory of a writer that has committed.
  mutating func keep(_ memory: WriterMemory, of lsn: LSN, in life: Int) {
    if begin(life) { self.memory = (lsn, memory) }
  }
}
