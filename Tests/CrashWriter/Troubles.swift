#if os(Linux)
  import Foundation
  import Glibc
  import MsgStore

  /// Uses a store without standard streams, as daemons and careless parents leave a process.
  enum Descriptors {
    /// Writes what it has found to a file of that name, as nobody hears what it says.
    static func run(_ path: String, report: String) throws {
      for descriptor in 0...2 as ClosedRange<Int32> { close(descriptor) }
      var problems: [String] = []
      var inheritedCount = 0
      for round in 1...100 {
        let store = try MessageStore(path: path, options: CrashWriter.options())
        try store.write { try CrashStep(round).run(round, $0) }
        // What a stray print does.
        for descriptor in 0...2 as ClosedRange<Int32> {
          let count = unsafe write(descriptor, "a stray print\n", 14)
          if count != -1 { problems.append("round \(round): descriptor \(descriptor) is open") }
        }
        for descriptor in 3..<64 as Range<Int32> where leads(descriptor, to: path) {
          if fcntl(descriptor, F_GETFD) & FD_CLOEXEC == 0 { inheritedCount += 1 }
        }
        if round % 2 == 0 { try store.close() }
      }
      if inheritedCount > 0 { problems.append("\(inheritedCount) descriptors are inherited") }
      try problems.joined(separator: "\n").write(toFile: report, atomically: false, encoding: .utf8)
    }

    private static func leads(_ descriptor: Int32, to path: String) -> Bool {
      let link = "/proc/self/fd/\(descriptor)"
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: link)
      return target?.hasPrefix(path) ?? false
    }
  }

  /// Tries stores as somebody who may not do everything; the superuser may.
  enum Unprivileged {
    /// Opens the store `x` in each directory in one, for reading and then for writing, and says what
    /// came of it.
    static func run(_ path: String) throws {
      let names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
      guard setgroups(0, nil) == 0, setgid(65534) == 0, setuid(65534) == 0 else {
        CrashWriter.fail("the rights cannot be given up")
      }
      for name in names where !name.hasPrefix(".") {
        for access in [StoreOptions.Access.readOnly, .readWrite] {
          CrashWriter.say("\(name) \(access) \(attempt("\(path)/\(name)/x", access))")
        }
      }
    }

    private static func attempt(_ path: String, _ access: StoreOptions.Access) -> String {
      do {
        let store = try MessageStore(path: path, options: CrashWriter.options(access))
        let number = try CrashStep.lastNumber(in: store)
        if access == .readWrite {
          try store.write { try CrashStep(number + 1).run(number + 1, $0) }
        }
        try store.close()
        return "\(number)"
      } catch StoreError.storage(let error) {
        return String(
          "\(error)".isEmpty ? "" : "\(Mirror(reflecting: error).children.first?.label ?? "")")
      } catch {
        return "\(error)"
      }
    }
  }

  /// Works with little memory, beside a reader that never ends.
  enum Memory {
    static let cacheByteCount = 6 << 20

    /// Stores many times what may be in memory, and says how many kilobytes it has needed at most.
    static func measure(_ path: String) throws {
      var options = CrashWriter.options()
      options.cacheByteCount = cacheByteCount
      let store = try MessageStore(path: path, options: options)
      let before = kilobytesUsed("VmRSS")
      try store.read { snapshot in
        for batch in 0..<100 {
          try store.write(.relaxed) { writer in
            for number in 0..<50 { try writer.insert(message(batch * 50 + number)) }
          }
        }
        // Everything once more, by way of the cache.
        try store.read { latest in
          for number in 0..<5000 {
            _ = try latest.thread("bulk").around(MessageID("b-\(number)"), count: 1)
          }
        }
      }
      CrashWriter.say("peak \(kilobytesUsed("VmHWM") - before)")
    }

    private static func message(_ number: Int) -> Message {
      // Digits of a random number, which no compression makes short.
      var random = SystemRandomNumberGenerator()
      let words = (0..<250).map { _ in String(random.next(), radix: 36) }
      return Message(
        id: MessageID("b-\(number)"), in: "bulk", from: "you", text: words.joined(),
        serverTimestamp: Timestamp(milliseconds: Int64(number)))
    }

    /// Takes steps until they need so many kilobytes more than the first one, which starts the store's
    /// thread: a store that gets none waits for seconds.
    static func exhaust(_ path: String, kilobytes: Int) throws {
      try StepWriter.write(to: path) {
        let byteCount = rlim_t(kilobytesUsed("VmData") + 4096) * 1024
        var limit = rlimit(rlim_cur: byteCount, rlim_max: byteCount)
        // RLIMIT_DATA: memory of its own that is not a file's.
        unsafe setrlimit(__rlimit_resource_t(2), &limit)
        takeAll(but: kilobytes)
      }
    }

    /// Takes all memory that there is up to the limit, and gives so many kilobytes back.
    ///
    /// So small allocations fail, too, which would otherwise find room in what the allocator has.
    private static func takeAll(but kilobytes: Int) {
      var blocks: UnsafeMutableRawPointer?
      while let block = unsafe malloc(1024) {
        unsafe block.storeBytes(of: blocks, as: UnsafeMutableRawPointer?.self)
        unsafe blocks = block
      }
      for _ in 0..<kilobytes {
        guard let block = unsafe blocks else { return }
        unsafe blocks = block.load(as: UnsafeMutableRawPointer?.self)
        unsafe free(block)
      }
    }

    private static func kilobytesUsed(_ field: String) -> Int {
      let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
      let line = text.split(separator: "\n").first { $0.hasPrefix(field) }
      return Int(line?.filter(\.isNumber) ?? "") ?? 0
    }
  }
#endif
