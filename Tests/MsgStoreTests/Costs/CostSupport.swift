import Damage
import MsgStore
import PageFile
import Testing

/// A store with hardly a cache that counts the pages it reads.
struct CountedStore {
  let store: MessageStore
  private let count: Locked<Int>

  init(_ files: MemoryDirectory, _ options: StoreOptions) throws {
    let count = Locked(0)
    let directory = HookedDirectory(files) { (call, _) throws(PageFileError) in
      if call.kind == .read { count.withLock { $0 += 1 } }
    }
    var options = options
    options.cacheByteCount = 0
    store = try MessageStore(in: directory, name: "store", options: options)
    self.count = count
  }

  /// How many pages something reads.
  func pagesRead(_ body: (MessageStore) throws -> Void) throws -> Int {
    count.withLock { $0 = 0 }
    try body(store)
    return count.withLock { $0 }
  }
}

/// Options for counting: nothing goes on by itself.
func countedOptions(_ change: (inout StoreOptions) -> Void = { _ in }) -> StoreOptions {
  var options = StoreOptions(localMember: "me", clock: { Timestamp(microseconds: 1_000_000) })
    .makingConversations
  options.worksInBackground = false
  change(&options)
  return options
}

/// A closed store that was filled.
func closedStore(
  _ options: StoreOptions, _ fill: (MessageStore) throws -> Void
) throws -> MemoryDirectory {
  let directory = MemoryDirectory()
  let store = try MessageStore(in: directory, name: "store", options: options)
  try fill(store)
  try store.close()
  return directory
}
