import PageFile
import PageFileSalvage
import Simulation

/// Salvages, opens, reads, checks, writes, checkpoints, closes and reopens damaged files.
///
///  1. Nothing traps, hangs, or takes memory without bounds.
///  2. A store that cannot be opened stays as it is, byte for byte; so does one that is only read.
///  3. The owner finds in it what a reader does.
///  4. If a check finds nothing wrong, the store is one: every key is found, what is written stays
///     written, and a check finds nothing wrong afterwards either.
struct StoreFilesTarget {
  private static let maximumChangeCount = 12

  private let directory: SimulatedDirectory
  private let secureDelete: Bool
  private let tell: ((String) -> Void)?

  static func run(_ input: inout FuzzInput) throws(BrokenPromise) {
    var image = SeedStores.all[input.index(below: SeedStores.all.count)]
    image.edit(&input)
    let target = StoreFilesTarget(
      directory: SimulatedDirectory(image.disk), secureDelete: input.bool(),
      tell: input.tell)
    try target.salvage()
    let seen = try target.read()
    try target.write(&input, seen)
    try promise(target.directory.misuse == nil, target.directory.misuse ?? "")
    try promise(target.directory.openFileCount == 0, "a file is still open")
  }

  /// The same as long as no byte of a file has changed.
  private var files: [UInt64?] {
    let disk = directory.disk
    return StoreImage.names.map { disk.contentHash(of: $0) }
  }

  private func open(
    _ access: DatabaseOptions.Access
  ) throws(BrokenPromise) -> Result<Database, PageFileError> {
    var options = DatabaseOptions()
    options.access = access
    options.secureDelete = secureDelete
    options.backgroundWork = .caller
    options.random = { [directory] in directory.draw() }
    let before = files
    do throws(PageFileError) {
      return .success(try Database(in: directory, name: StoreImage.names[0], options: options))
    } catch {
      tell?("opening as \(access): \(error)")
      try promise(files == before, "an opening that failed has changed the files: \(error)")
      return .failure(error)
    }
  }

  // MARK: Reading

  /// Reads everything that a salvage can.
  private func salvage() throws(BrokenPromise) {
    let before = files
    do throws(PageFileError) {
      let salvage = try PageSalvage(in: directory, name: StoreImage.names[0])
      tell?("salvage: \(salvage.report)")
      let words = (0..<Words.count).map { salvage.word($0) }
      tell?("\(words.count { $0 != nil }) words are known")
      for tree in 0..<Roots.maximumCount {
        let cursor = salvage.cursor(tree)
        var value = ByteBuffer()
        while cursor.next() {
          value.removeAll()
          _ = salvage.value(of: cursor.key, in: tree, to: &value)
        }
      }
    } catch {
      tell?("salvage: \(error)")
    }
    try promise(files == before, "a salvage has changed the files")
  }

  /// What somebody who only reads sees; nil if the store cannot be opened.
  private func read() throws(BrokenPromise) -> StoreContents? {
    let before = files
    guard case .success(let database) = try open(.readOnly) else { return nil }
    let (contents, _) = try look(into: database)
    close(database)
    try promise(files == before, "reading has changed the files")
    return contents
  }

  private func look(
    into database: Database
  ) throws(BrokenPromise) -> (contents: StoreContents, isSound: Bool) {
    var findingCount = 0
    let transaction: ReadTransaction
    do throws(PageFileError) {
      try database.check { _ in findingCount += 1 }
      transaction = try database.beginRead()
    } catch {
      throw BrokenPromise("an open store cannot be checked or read: \(error)")
    }
    let contents = try StoreContents(transaction.source)
    tell?("\(findingCount) findings, \(contents.trees.mapValues(\.cells.count)) cells")
    let isSound = findingCount == 0
    if isSound {
      try promise(contents.isWhole, "a check finds nothing, and yet not all can be read")
      try contents.promiseLookups(transaction.source)
    }
    return (contents, isSound)
  }

  private func close(_ database: Database) {
    try? database.close()
  }

  // MARK: Writing

  private static func changeWords(_ source: PageSource, _ contents: inout StoreContents) {
    for index in [0, Words.count - 1] {
      contents.words[index] &+= 1
      source.setWord(index, to: contents.words[index])
    }
  }

  private func write(
    _ input: inout FuzzInput, _ seen: StoreContents?
  ) throws(BrokenPromise) {
    let isThere = files[0] != nil
    guard case .success(let database) = try open(.readWrite) else { return }
    guard let seen else {
      // A reader makes no store where there is none.
      return try promise(!isThere, "the owner opens what a reader cannot")
    }
    let (contents, isSound) = try look(into: database)
    try promise(contents == seen, "the owner sees other contents than a reader")
    var expected = contents
    var isWritten = false
    do throws(PageFileError) {
      let transaction = try database.beginWrite()
      var changed = expected
      for _ in 0..<Self.maximumChangeCount where !input.isAtEnd {
        try change(transaction.source, &input, &changed)
      }
      // Half of the inputs change words as well, or nothing else.
      if secureDelete { Self.changeWords(transaction.source, &changed) }
      _ = try transaction.commit(.full)
      expected = changed
      isWritten = true
    } catch {
      try promise(!isSound || error.isLimit, "a sound store cannot be written to: \(error)")
    }
    if isSound { try promiseSoundness(database, expected) }
    for step in 0..<2 {
      do throws(PageFileError) {
        if step == 0 { try database.checkpoint() } else { try database.close() }
      } catch {
        try promise(!isSound || error.isLimit, "a sound store cannot be checkpointed: \(error)")
      }
      if isSound && step == 0 { try promiseSoundness(database, expected) }
    }
    try reopen(isSound ? expected : nil, isWritten: isWritten)
  }

  /// One change, in the store and in what is expected of it.
  private func change(
    _ source: PageSource, _ input: inout FuzzInput, _ expected: inout StoreContents
  ) throws(PageFileError) {
    let tree = input.index(below: 4)
    let cells = expected.trees[tree]?.cells ?? []
    let isOld = !cells.isEmpty && input.bool()
    let key = isOld ? cells[input.index(below: cells.count)].key : [input.byte()] + input.take(2)
    if input.bool() {
      let byteCount = Int(input.raw(2) % 12_000)
      let value = [UInt8](repeating: input.byte(), count: byteCount)
      try source.put(key, value, tree: tree)
      expected.trees[tree, default: StoreContents.Tree()].put(key, value)
    } else {
      _ = try source.remove(key, tree: tree)
      expected.trees[tree]?.remove(key)
      if expected.trees[tree]?.cells.isEmpty ?? false { expected.trees[tree] = nil }
    }
  }

  private func promiseSoundness(
    _ database: Database, _ expected: StoreContents
  ) throws(BrokenPromise) {
    let (contents, isSound) = try look(into: database)
    try promise(isSound, "a check finds something after a commit")
    try promise(contents == expected, "other contents than were written")
  }

  private func reopen(
    _ expected: StoreContents?, isWritten: Bool
  ) throws(BrokenPromise) {
    switch try open(.readWrite) {
    case .success(let database):
      if let expected {
        try promiseSoundness(database, expected)
      } else {
        _ = try look(into: database)
      }
      close(database)
    case .failure(let error):
      try promise(expected == nil, "a sound store cannot be opened again: \(error)")
    }
  }
}

extension PageFileError {
  /// Counters near their end are refused, and the store stays as it is.
  fileprivate var isLimit: Bool { if case .limitExceeded = self { true } else { false } }
}
