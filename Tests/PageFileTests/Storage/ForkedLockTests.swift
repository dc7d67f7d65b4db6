#if os(Linux)
  import Glibc
  import PageFile
  import Testing

  /// A child by `fork` shares the open files, and with them the lock.
  struct ForkedLockTests {
    @Test func lettingGoDoesNotWaitForAChildToEnd() throws {
      let path = "/tmp/forked-lock-\(UInt64.random(in: 0 ... .max))"
      defer {
        for suffix in ["", "-wal0", "-wal1"] { _ = unsafe unlink(path + suffix) }
      }
      let database = try Database(path: path, options: smallPages)
      try Rounds.write(1, to: database)
      // Swift does not let one call it by its name.
      guard let symbol = unsafe dlsym(nil, "fork") else { return }
      typealias Fork = @convention(c) () -> pid_t
      let fork = unsafe unsafeBitCast(symbol, to: Fork.self)
      let child = fork()
      if child == 0 {
        sleep(20)
        _exit(0)
      }
      defer {
        kill(child, SIGKILL)
        _ = waitpid(child, nil, 0)
      }
      try database.suspend()
      let next = try Database(path: path, options: smallPages)
      #expect(try Rounds.read(next) == 1)
    }
  }
#endif
