import PageFile

/// Which operations are played.
package enum Workload {
  /// The operations of the exhaustive tier.
  package static var small: [Operation] {
    [
      .put(3, byteCount: 60), .put(4, byteCount: 6000), .delete(5), .commit(.full),
      .commit(.relaxed), .checkpoint, .reopen, .openReader, .closeReader,
      .checkpointBeside(2, .relaxed), .compact,
      .suspend(checkpoints: false), .kill, .cutPower,
    ]
  }

  /// A store with some pages, an overflow chain, and a log.
  package static var seeded: [Operation] {
    [
      .fill(0..<24, byteCount: 300), .put(5, byteCount: 9000), .commit(.full), .checkpoint,
      .put(7, byteCount: 40), .commit(.full),
    ]
  }

  /// What makes pages split and merge, and files grow and turn.
  package static var shaped: [Operation] {
    [
      .put(0, byteCount: 20), .put(1, byteCount: 20), .commit(.relaxed),
      .fill(0..<Record.keyCount, byteCount: 900), .put(9, byteCount: 9000), .commit(.relaxed),
      .checkpoint, .openReader, .clear(0..<60), .commit(.full), .compact, .closeReader,
    ]
  }

  /// The sequence with a number: all of one operation come first, then all of two, and so on.
  package static func sequence(_ number: Int) -> [Operation] {
    var rest = number
    var length = 1
    var count = small.count
    while rest >= count {
      rest -= count
      length += 1
      count *= small.count
    }
    return (0..<length).map { _ in
      defer { rest /= small.count }
      return small[rest % small.count]
    }
  }

  /// Random operations, of which some are rare and some frequent: which ones differs each time.
  package static func random(count: Int, _ random: inout SeededRandom) -> [Operation] {
    let writesFor = 2 + random.below(5)
    let fullIn4 = random.below(5)
    let maximumByteCount = [100, 400, 2000][random.below(3)]
    let keyCount = [12, 48, Record.keyCount][random.below(3)]
    var operations: [Operation] = []
    while operations.count < count {
      if random.below(writesFor) > 0 {
        operations.append(write(keyCount, maximumByteCount, &random))
        continue
      }
      switch random.below(16) {
      case 0: operations.append(.checkpoint)
      case 1: operations.append(.reopen)
      case 2: operations.append(.openReader)
      case 3: operations.append(.closeReader)
      case 4: operations.append(.rollback)
      case 5: operations.append(.background)
      case 6 where random.once(in: 3): operations.append(.kill)
      case 7:
        operations.append(.checkpointBeside(random.below(8), random.once(in: 2) ? .full : .relaxed))
      case 9: operations.append(.compact)
      case 8 where random.once(in: 2):
        operations.append(.suspend(checkpoints: random.once(in: 2)))
      default: operations.append(.commit(random.below(4) < fullIn4 ? .full : .relaxed))
      }
    }
    return operations
  }

  private static func write(
    _ keyCount: Int, _ maximumByteCount: Int, _ random: inout SeededRandom
  ) -> Operation {
    let key = random.below(keyCount)
    switch random.below(18) {
    case 0: return .put(key, byteCount: random.below(14000))
    case 16: return .fill(0..<keyCount, byteCount: maximumByteCount)
    case 17: return .clear(0..<keyCount - random.below(8))
    case 1:
      return .fill(
        key..<min(keyCount, key + 1 + random.below(30)), byteCount: random.below(maximumByteCount))
    case 2: return .clear(key..<min(keyCount, key + 1 + random.below(30)))
    case 3, 4, 5: return .delete(key)
    default: return .put(key, byteCount: random.below(maximumByteCount))
    }
  }

  /// The same operations, most of them on words as well or instead, from some moment on.
  ///
  /// - Parameter start: The number of operations before that moment; nil for a random one.
  package static func withWords(
    _ operations: [Operation], from start: Int? = nil, _ random: inout SeededRandom
  ) -> [Operation] {
    let start = start ?? random.below(operations.count + 1)
    var changed: [Operation] = []
    for (index, operation) in operations.enumerated() {
      switch index < start ? 0 : random.below(3) {
      case 0: changed.append(operation)
      case 1: changed.append(onWords(operation))
      default: changed += [operation, onWords(operation)]
      }
    }
    return changed
  }

  /// The operation with words in the place of its keys.
  private static func onWords(_ operation: Operation) -> Operation {
    func beyond(_ keys: Range<Int>) -> Range<Int> {
      keys.lowerBound + Record.keyCount..<keys.upperBound + Record.keyCount
    }
    return switch operation {
    case .put(let key, let byteCount): .put(key + Record.keyCount, byteCount: byteCount)
    case .delete(let key): .delete(key + Record.keyCount)
    case .fill(let keys, let byteCount): .fill(beyond(keys), byteCount: byteCount)
    case .clear(let keys): .clear(beyond(keys))
    default: operation
    }
  }

  /// Page sizes and caches, small ones more often: they make the engine work; one store in four is
  /// encrypted.
  package static func setting(_ random: inout SeededRandom) -> StoreSetting {
    StoreSetting(
      pageByteCount: [4096, 4096, 4096, 4096, 8192, 16384][random.below(6)],
      cacheByteCount: [0, 16 << 10, 64 << 10, 1 << 18, 1 << 20][random.below(5)],
      seals: random.once(in: 4) ? SealSource(seed: random.next()) : nil)
  }
}
