import MsgStoreTools

#if os(Linux)
  import Glibc
  import MsgStore
  import PageFile

  /// Forks at every system call of a store, whatever locks are held there.
  ///
  /// Each child tries everything there is, which must say `forked` and must not hang, and lets go of the
  /// store; the parent goes on as if there were no children. Says how many children there were.
  enum Forks {
    // One thread at a time comes here: the others wait for their work.
    nonisolated(unsafe) private static var database: Database?
    nonisolated(unsafe) private static var store: MessageStore?
    nonisolated(unsafe) private static var reading: Reading?
    nonisolated(unsafe) private static var childCount = 0

    private final class Reading {
      let transaction: ReadTransaction
      init(_ transaction: consuming ReadTransaction) { self.transaction = transaction }
    }

    static func run(_ path: String) throws {
      let (directoryPath, name) = PosixDirectory.resolve(path)
      let directory = WatchedDirectory(PosixDirectory(path: directoryPath), beforeCall: forkHere)
      try usePages(directory, name)
      try useStore(directory, name + "-store")
      CrashWriter.say("forks \(unsafe childCount)")
    }

    private static func usePages(_ directory: any StorageDirectory, _ name: String) throws {
      let owner = try Database(in: directory, name: name)
      unsafe database = owner
      for round in 0..<6 {
        let transaction = try owner.beginWrite()
        try put(UInt8(round), transaction.source)
        forkHere()
        _ = try transaction.commit()
        unsafe reading = Reading(try owner.beginRead())
        if round == 2 { try owner.checkpoint() }
        if round == 4 {
          try owner.suspend()
          try owner.resume()
        }
      }
      // The children are gone, and with them nothing of the parent's.
      if (try? Database(in: directory, name: name)) != nil {
        CrashWriter.fail("a child has let go of its parent's lock")
      }
      unsafe database = nil
      unsafe reading = nil
      try owner.close()
      let reopened = try Database(in: directory, name: name)
      guard reopened.statistics.lastLSN == LSN(6) else { CrashWriter.fail("commits are missing") }
      try reopened.check { CrashWriter.fail("\($0)") }
    }

    private static func put(_ number: UInt8, _ source: PageSource) throws(PageFileError) {
      try source.enter()
      defer { source.leave() }
      try Bytes.with([number]) { (bytes) throws(PageFileError) in
        _ = try BTree(source, TreeNumber(0)).insert(bytes, bytes)
      }
    }

    private static func useStore(_ directory: any StorageDirectory, _ name: String) throws {
      let owner = try MessageStore(in: directory, name: name, options: CrashWriter.options())
      unsafe store = owner
      // Somebody who holds now this lock and now that one.
      let asker = Worker()
      let (hasAsked, isDone) = (Locked(false), Locked(false))
      asker.enqueue {
        while !isDone.withLock({ $0 }) {
          _ = owner.statistics
          hasAsked.withLock { $0 = true }
        }
      }
      defer {
        isDone.withLock { $0 = true }
        asker.stop()
      }
      // The first time it holds locks of the language's own, too, which no child of ours frees.
      while !hasAsked.withLock({ $0 }) { usleep(100) }
      for number in 1...6 {
        try owner.write { try CrashStep(number).run(number, $0) }
        try owner.read { snapshot in
          forkHere { try? snapshot.conversation(CrashStep.progress) == nil }
        }
      }
      unsafe store = nil
      try owner.close()
    }

    // MARK: The child

    private static func forkHere() { forkHere { nil } }

    /// - Parameter isRefused: What the child tries besides; nil stands for refused.
    private static func forkHere(_ isRefused: () -> Bool?) {
      let child = fork()
      if child == 0 {
        // Whoever waits for a lock that its parent's thread holds is ended by this.
        alarm(20)
        let isRight = isRefused() == nil && useInChild()
        _exit(isRight ? 0 : 3)
      }
      unsafe childCount += 1
      var status: Int32 = 0
      while unsafe waitpid(child, &status, 0) == -1 && errno == EINTR {}
      if status != 0 { CrashWriter.fail("child \(unsafe childCount) ended with \(status)") }
    }

    private static func useInChild() -> Bool {
      var isRight = true
      if let database = unsafe database {
        isRight = usePagesInChild(database)
        try? database.suspend()
        _ = (database.statistics, database.isPoisoned)
        if !database.isForeign { isRight = false }
      }
      if let store = unsafe store {
        isRight = isRight && useStoreInChild(store)
        try? store.suspend()
        _ = store.statistics
      }
      // Letting go must not hang either.
      unsafe reading = nil
      unsafe database = nil
      unsafe store = nil
      return isRight
    }

    private static func usePagesInChild(_ database: Database) -> Bool {
      let reading = unsafe reading
      return isForked { () throws(PageFileError) in _ = try database.beginRead() }
        && isForked { () throws(PageFileError) in _ = try database.beginWrite() }
        && isForked { () throws(PageFileError) in try database.checkpoint() }
        && isForked { () throws(PageFileError) in try database.resume() }
        && isForked { () throws(PageFileError) in try database.close() }
        && isForked { () throws(PageFileError) in try database.check { _ in } }
        && (reading == nil
          || isForked { () throws(PageFileError) in try reading?.transaction.source.enter() })
    }

    private static func useStoreInChild(_ store: MessageStore) -> Bool {
      isForked { try store.read { _ in } } && isForked { try store.write { _ in } }
        && isForked { try store.checkpoint() } && isForked { try store.resume() }
        && isForked { try store.close() } && isForked { _ = try store.check() }
    }

    private static func isForked(_ body: () throws(PageFileError) -> Void) -> Bool {
      do throws(PageFileError) { try body() } catch { return error == .forked }
      return false
    }

    private static func isForked(_ body: () throws -> Void) -> Bool {
      do { try body() } catch { return error as? StoreError == .storage(.forked) }
      return false
    }

    // MARK: A child that stays

    /// Suspends while a child has the same files open, and says whether others may have the store then.
    static func suspendBesideAChild(_ path: String) throws {
      let owner = try Database(path: path)
      _ = try owner.beginWrite().commit()
      let child = fork()
      if child == 0 {
        while true { pause() }
      }
      defer { kill(child, SIGKILL) }
      try owner.suspend()
      let other = try Database(path: path)
      try other.close()
      try owner.resume()
      try owner.close()
      CrashWriter.say("handed over")
    }
  }
#endif
