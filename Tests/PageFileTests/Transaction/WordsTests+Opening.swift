import Damage
import PageFile
import Testing

/// Words that an opening finds in the log.
extension WordsTests {
  /// They are moved to the data file, with pages or alone, and whoever opens the store next sees
  /// them, also those that nobody has set since.
  @Test(arguments: [false, true]) func anOpeningMovesTheWordsOfTheLog(hasPages: Bool) throws {
    let files = MemoryDirectory()
    let database = try open(files)
    var contents = Contents(words: [0: 7, 9: 8, 23: 9])
    if hasPages { contents[[3, 1]] = [1] }
    try commit(contents, over: [:], to: database)
    // What a killed process leaves, and what the next one does.
    let killed = files.copy()
    let next = try open(killed)
    #expect(try next.state().contents == contents)
    let old = contents
    contents[word: 9] = 10
    try commit(contents, over: old, to: next)
    for seen in try [next, open(killed, .readOnly), open(killed.copy())] {
      #expect(try seen.state().contents == contents)
    }
    try next.close()
    #expect(try open(killed).state().contents == contents)
    withExtendedLifetime(database) {}
  }
}
