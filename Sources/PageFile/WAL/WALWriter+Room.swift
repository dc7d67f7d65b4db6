/// Room in the log: a commit is written to blocks that are already allocated.
extension WALWriter {
  /// Ensures that the next `byteCount` bytes of the current file, and the spare ones, have blocks.
  func makeRoom(_ byteCount: Int, usesReserve: Bool) throws(PageFileError) {
    let (current, start, allocated) = appendLock.withLock {
      (position.current, position.offset, position.allocatedByteCounts[position.current])
    }
    let end = start + byteCount
    let needed = end + Self.spareByteCount
    if needed <= allocated { return }
    growLock.lock()
    defer { growLock.unlock() }
    // The background thread may have grown the file while this thread waited.
    let allocatedNow = appendLock.withLock { position.allocatedByteCounts[current] }
    if needed <= allocatedNow { return }
    let target = (needed + Self.byteCountMin - 1) / Self.byteCountMin * Self.byteCountMin
    do throws(PageFileError) {
      try files[current].extend(to: target)
    } catch {
      guard error == .diskFull, usesReserve, end <= allocatedNow else { throw error }
      return
    }
    appendLock.withLock { position.allocatedByteCounts[current] = target }
  }

  /// True if commits that make room have filled half of the spare bytes of a file that cannot grow.
  var isShort: Bool {
    appendLock.withLock {
      position.offset + Self.spareByteCount / 2 > position.allocatedByteCounts[position.current]
    }
  }

  /// True if the current file should grow before the next commits need it.
  var wantsToGrow: Bool {
    appendLock.withLock {
      let allocated = position.allocatedByteCounts[position.current]
      return allocated < Self.maximumByteCount && position.offset > allocated / 2
    }
  }

  /// Doubles the current file with zeros and syncs them, so that a durable commit to it is one
  /// write and one sync without a change of size.
  ///
  /// Called off the commit path. Commits may fill the new room before its sync is over: a durable
  /// one syncs the file itself, with its size, as it does when `makeRoom` has made the room. A
  /// failed write is harmless. A failed sync may have lost commits that were written meanwhile, so
  /// it poisons the store.
  func growAhead() {
    guard let grown = growLock.withLock({ extendCurrentFile() }) else { return }
    // Not under `growLock`, for which writers may wait.
    // Durable after this: the zeros, and the commits before them.
    _ = try? syncFile(grown)
  }

  /// Doubles the current file with zeros; returns it, or nil if it keeps its size.
  private func extendCurrentFile() -> Int? {
    let (current, allocated) = appendLock.withLock {
      (position.current, position.allocatedByteCounts[position.current])
    }
    let target = min(allocated * 2, Self.maximumByteCount)
    guard allocated < target else { return nil }
    do throws(PageFileError) {
      try writeZeros(files[current], from: allocated, to: target)
    } catch {
      return nil
    }
    appendLock.withLock { position.allocatedByteCounts[current] = target }
    return current
  }
}
