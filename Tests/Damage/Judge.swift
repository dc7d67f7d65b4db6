package import PageFile

/// Opens a damaged copy of a specimen in every way there is, and says whether the damage was reported, could
/// not matter, or did harm.
///
/// A store may refuse. What it answers has to be what some commit left, and no commit that something
/// in the files proves may be missing. That has to hold for a reader, for an owner, and after the owner
/// has gone on writing: a checkpoint must not give damaged bytes a good checksum.
package struct Judge {
  package enum Outcome: Int, Sendable, CaseIterable {
    /// All answers are right, and nothing says that there is damage.
    case harmless
    /// All answers are right, and a check names the damage.
    case found
    /// Commits are missing that nothing in the files proves to have been durable.
    case unwitnessed
    /// Reading or writing throws.
    case reported
    /// Opening throws.
    case refused
    /// A wrong answer, a proven commit missing in silence, an error that has no business here, files
    /// changed by who was refused.
    case harm
  }

  package struct Verdict: Sendable {
    package var outcome: Outcome
    package var sentence = ""
  }

  private let specimen: Specimen
  private let isFitting: (PageFileError) -> Bool

  /// - Parameter isFitting: Which errors tell rightly of the damage done.
  package init(
    _ specimen: Specimen, isFitting: @escaping (PageFileError) -> Bool = Judge.tellsOfDamage
  ) {
    self.specimen = specimen
    self.isFitting = isFitting
  }

  /// The errors that a damaged store may be met with.
  package static func tellsOfDamage(_ error: PageFileError) -> Bool {
    switch error {
    case .corruptMeta, .corruptPage, .corruptWAL, .walMismatch: true
    default: false
    }
  }

  /// The verdict on files that are the specimen's but for the damage; they are not changed.
  package func verdict(_ files: MemoryDirectory) -> Verdict {
    let reader = verdict(files, .readOnly)
    let copy = files.copy()
    var later: Specimen?
    let owner = verdict(copy, .readWrite) { later = goOn($0) }
    var verdicts = [reader, owner]
    if let later {
      var verdict = Judge(later, isFitting: isFitting).verdict(copy, .readOnly)
      verdict.sentence = "after going on: \(verdict.sentence)"
      // Only the first look says how the damage was met.
      if verdict.outcome == .harm { verdicts.append(verdict) }
    }
    return verdicts.max { $0.outcome.rawValue < $1.outcome.rawValue } ?? reader
  }

  /// Opens the files, looks at everything, and has `body` use what is open.
  private func verdict(
    _ files: MemoryDirectory, _ access: DatabaseOptions.Access,
    _ body: (Database) -> Void = { _ in }
  ) -> Verdict {
    let before = Specimen.fileNames.map { files[$0] }
    var options = SpecimenMaker.options
    options.access = access
    let verdict: Verdict
    do throws(PageFileError) {
      let database = try Database(in: files, name: Specimen.storeName, options: options)
      verdict = look(at: database)
      if access == .readWrite {
        body(database)
        return verdict
      }
    } catch {
      verdict = judge(error, .refused)
    }
    let isUntouched = Specimen.fileNames.map { files[$0] } == before
    return isUntouched ? verdict : harm("the files were changed; \(verdict)")
  }

  private func judge(_ error: PageFileError, _ outcome: Outcome) -> Verdict {
    isFitting(error)
      ? Verdict(outcome: outcome, sentence: "\(error)")
      : harm("this is no answer to the damage: \(error)")
  }

  private func harm(_ sentence: String) -> Verdict { Verdict(outcome: .harm, sentence: sentence) }

  /// Checks everything and reads everything.
  private func look(at database: Database) -> Verdict {
    var finding: CheckFinding?
    do throws(PageFileError) {
      try database.check { finding = finding ?? $0 }
      let (lsn, contents) = try database.state()
      guard lsn < specimen.states.count, specimen.states[lsn] == contents else {
        return harm("what is read is not what commit \(lsn) left")
      }
      guard lsn >= specimen.witnessedLSN else {
        return harm("commit \(specimen.witnessedLSN) was proven, and \(lsn) is the last")
      }
      if lsn < specimen.lastLSN {
        return Verdict(outcome: .unwitnessed, sentence: "ends with commit \(lsn)")
      }
      return Verdict(
        outcome: finding == nil ? .harmless : .found, sentence: finding?.description ?? "")
    } catch {
      if finding == nil { return harm("a check finds nothing where reading throws \(error)") }
      return lookAtEachKey(of: database) ?? judge(error, .reported)
    }
  }

  /// Reads key by key what cannot be read as a whole: nil, or the harm that is seen.
  private func lookAtEachKey(of database: Database) -> Verdict? {
    guard let transaction = try? database.beginRead() else { return nil }
    let lsn = Int(transaction.lsn.rawValue)
    guard lsn < specimen.states.count, lsn >= specimen.witnessedLSN else {
      return harm("commit \(lsn) is the last")
    }
    let source = transaction.source
    guard (try? source.enter()) != nil else { return nil }
    defer { source.leave() }
    for index in 0..<Words.count where source.word(index) != specimen.states[lsn][word: index] {
      return harm("word \(index) is wrong")
    }
    for (key, value) in specimen.states[lsn] where key[0] != Contents.wordByte {
      var seen = ByteBuffer()
      let isThere = Bytes.with(Array(key.dropFirst())) { name in
        try? BTree(source, TreeNumber(Int(key[0]))).value(of: name, appendTo: &seen)
      }
      if isThere == false { return harm("key \(key) is missing in silence") }
      if isThere == true && seen.bytes.array() != value { return harm("key \(key) is wrong") }
    }
    return nil
  }

  /// Adds a commit to a store that opened, has every page moved that will be, and closes it.
  ///
  /// Answers what should be seen afterwards, also when something of this throws.
  private func goOn(_ database: Database) -> Specimen? {
    guard let lsn = try? database.beginRead().lsn, Int(lsn.rawValue) < specimen.states.count else {
      return nil
    }
    let seen = specimen.states[...Int(lsn.rawValue)]
    var next = seen[seen.endIndex - 1]
    next[[2, 0xFF]] = [1]
    let isCommitted = (try? database.put([0xFF], [1], tree: 2)) != nil
    try? database.checkpoint()
    try? database.close()
    return Specimen(
      specimen.name, specimen.files, seen + [next],
      witnessed: isCommitted ? seen.count : min(specimen.witnessedLSN, seen.count - 1))
  }
}

extension Database {
  /// Commits one cell at `full`.
  package func put(
    _ key: [UInt8], _ value: [UInt8], tree: Int
  ) throws(PageFileError) -> LSN {
    let transaction = try beginWrite()
    let source = transaction.source
    try source.enter()
    do throws(PageFileError) {
      try Bytes.with(key) { (key) throws(PageFileError) in
        try Bytes.with(value) { (value) throws(PageFileError) in
          _ = try BTree(source, TreeNumber(tree)).insert(key, value)
        }
      }
    } catch {
      source.leave()
      throw error
    }
    source.leave()
    return try transaction.commit(.full)
  }
}
