import PageFile

/// All files of a directory, on the medium and in the page cache, as one value.
///
///  1. What a call changes is in the page cache at once and pending until a sync of that file, or of
///     the directory for a name, makes it durable.
///  2. Bytes, sizes, and names are pending apart from each other.
///  3. Page cache and medium are kept apart, because after a failed sync they differ for good.
///
/// A kill of the process leaves the disk as it is; a power cut leaves `afterPowerCut`.
package struct SimulatedDisk: Sendable {
  struct Inode: Sendable {
    var cached = FileImage()
    var durable = FileImage()
    /// Whether the pending operations are all that the medium lacks.
    var isCoherent = true
    /// How often something was lost before it reached the medium, and how many of these losses some
    /// file handle has been told of.
    var lossCount = 0
    var toldLossCount = 0
  }

  private(set) var inodes: [Inode] = []
  private(set) var names = NameTable()
  private(set) var durableNames = NameTable()
  package private(set) var pending: [PendingOperation] = []
  /// How many random numbers the stores on this disk have drawn.
  ///
  /// They go on with new ones after a crash. Not a part of what the disk holds.
  private(set) var drawnCount: UInt64 = 0

  package init() {}

  // MARK: Reading

  func inode(named name: String) -> Int? { names[name] }

  func identity(of inode: Int) -> FileIdentity {
    FileIdentity(
      device: 1, inode: UInt64(inode), linkCount: names.entries.count { $0.inode == inode })
  }

  func byteCount(of inode: Int) -> Int { inodes[inode].cached.byteCount }

  func durableByteCount(of inode: Int) -> Int { inodes[inode].durable.byteCount }

  func read(_ inode: Int, into target: MutableBytes, at offset: Int) -> Int {
    inodes[inode].cached.read(into: target, at: offset)
  }

  /// The size of all files together, in the page cache.
  var byteCount: Int { inodes.reduce(0) { $0 + $1.cached.byteCount } }

  /// The same for two disks that no process can tell apart, now or after a power cut.
  package var contentHash: UInt64 {
    var hash: UInt64 = 0
    for (name, inode) in names.entries {
      hash = SeededRandom.mix(hash ^ name.contentHash ^ SeededRandom.mix(UInt64(inode)))
      hash = SeededRandom.mix(hash ^ inodes[inode].cached.contentHash)
      if inodes[inode].lossCount > inodes[inode].toldLossCount { hash = ~hash }
      if !inodes[inode].isCoherent { hash ^= inodes[inode].durable.contentHash &* 3 }
    }
    if pending.isEmpty { return hash }
    for operation in pending {
      hash = SeededRandom.mix(hash ^ operation.contentHash &+ UInt64(operation.inode ?? 1 << 32))
    }
    for inode in inodes { hash = SeededRandom.mix(hash ^ inode.durable.contentHash) }
    return durableNames.entries.reduce(hash) { SeededRandom.mix($0 ^ $1.name.contentHash) }
  }

  mutating func draw() -> UInt64 {
    drawnCount += 1
    return SeededRandom.mix(drawnCount &* 0x9E37_79B9_7F4A_7C15)
  }

  // MARK: Changing

  /// A file without a name.
  mutating func makeInode() -> Int {
    inodes.append(Inode())
    return inodes.count - 1
  }

  mutating func link(_ name: String, to inode: Int) {
    names[name] = inode
    pending.append(PendingOperation(inode: nil, change: .link(name: name, inode: inode)))
  }

  mutating func unlink(_ name: String) {
    names[name] = nil
    pending.append(PendingOperation(inode: nil, change: .unlink(name: name)))
  }

  mutating func write(_ inode: Int, _ payload: Payload, at offset: Int) {
    if payload.byteCount == 0 { return }
    let oldByteCount = inodes[inode].cached.byteCount
    inodes[inode].cached.write(payload, 0..<payload.byteCount, at: offset)
    pending.append(PendingOperation(inode: inode, change: .write(offset: offset, payload)))
    let end = offset + payload.byteCount
    if end > oldByteCount {
      pending.append(PendingOperation(inode: inode, change: .size(end)))
    }
  }

  mutating func resize(_ inode: Int, to byteCount: Int) {
    inodes[inode].cached.resize(to: byteCount)
    pending.append(PendingOperation(inode: inode, change: .size(byteCount)))
  }

  // MARK: Syncing

  mutating func sync(_ inode: Int) {
    if inodes[inode].isCoherent {
      inodes[inode].durable = inodes[inode].cached
    } else {
      var durable = inodes[inode].durable
      for operation in pending where operation.inode == inode {
        switch operation.change {
        case .write(let offset, let payload):
          durable.write(payload, 0..<payload.byteCount, at: offset)
        case .size(let byteCount): durable.resize(to: byteCount)
        case .link, .unlink: break
        }
      }
      inodes[inode].durable = durable
    }
    pending.removeAll { $0.inode == inode }
  }

  mutating func syncNames() {
    durableNames = names
    pending.removeAll { $0.inode == nil }
  }

  /// Forgets what a file has pending, as a system does that could not write it back and marks its
  /// pages as clean all the same.
  /// - Parameter isCacheOld: Whether the page cache shows again what is on the medium.
  mutating func losePending(_ inode: Int, isCacheOld: Bool) {
    pending.removeAll { $0.inode == inode }
    if isCacheOld {
      inodes[inode].cached = inodes[inode].durable
    } else {
      inodes[inode].isCoherent = false
    }
  }

  /// Every handle that is open has to be told of a loss, once, when it next syncs.
  mutating func addLoss(_ inode: Int) { inodes[inode].lossCount += 1 }

  /// Tells a handle of what was lost since it was told last; false when there is nothing to tell.
  mutating func tellLosses(_ inode: Int, after lossCount: inout Int) -> Bool {
    defer { lossCount = inodes[inode].lossCount }
    if lossCount == inodes[inode].lossCount { return false }
    inodes[inode].toldLossCount = inodes[inode].lossCount
    return true
  }

  /// What a handle opened now counts as told: a loss that nobody was told of is told to it.
  func toldLossCount(of inode: Int) -> Int { inodes[inode].toldLossCount }

  // MARK: Crashing

  /// How many parts the next power cut may keep or lose.
  package var pendingUnitCount: Int { pending.reduce(0) { $0 + $1.unitCount } }

  /// What is on the medium when some units of what is pending have reached it.
  package func afterPowerCut(_ cut: PowerCut, _ profile: DiskProfile) -> SimulatedDisk {
    var kept = [Bool](repeating: false, count: pendingUnitCount)
    for range in cut.kept { for unit in range.clamped(to: 0..<kept.count) { kept[unit] = true } }
    profile.restrict(&kept, of: pending)
    var disk = self
    disk.pending = []
    disk.names = durableNames
    var byteCounts = inodes.map(\.durable.byteCount)
    var firstUnit = 0
    for operation in pending {
      let units = firstUnit..<firstUnit + operation.unitCount
      firstUnit = units.upperBound
      switch operation.change {
      case .write(let offset, let payload):
        guard let inode = operation.inode else { continue }
        for run in kept.runs(of: true, in: units) {
          let bytes = operation.byteRange(ofUnits: run.shifted(by: -units.lowerBound))
          disk.inodes[inode].durable.write(payload, bytes, at: offset)
        }
      case .size(let byteCount) where kept[units.lowerBound]:
        guard let inode = operation.inode else { continue }
        disk.inodes[inode].durable.resize(to: byteCount)
        byteCounts[inode] = byteCount
      case .link(let name, let inode) where kept[units.lowerBound]: disk.names[name] = inode
      case .unlink(let name) where kept[units.lowerBound]: disk.names[name] = nil
      default: break
      }
    }
    for (index, byteCount) in byteCounts.enumerated() {
      disk.inodes[index].durable.resize(to: byteCount)
    }
    if cut.hasGarbage { fillWithGarbage(&disk, kept) }
    for index in disk.inodes.indices {
      disk.inodes[index].cached = disk.inodes[index].durable
      disk.inodes[index].isCoherent = true
      disk.inodes[index].lossCount = 0
      disk.inodes[index].toldLossCount = 0
    }
    disk.durableNames = disk.names
    return disk
  }

  /// Sectors of lost writes behind the durable end of their file hold anything: nothing was there
  /// that had to be kept.
  private func fillWithGarbage(_ disk: inout SimulatedDisk, _ kept: [Bool]) {
    var firstUnit = 0
    for operation in pending {
      let units = firstUnit..<firstUnit + operation.unitCount
      firstUnit = units.upperBound
      guard let inode = operation.inode, case .write(let offset, let payload) = operation.change,
        !payload.isZero
      else { continue }
      for unit in units where !kept[unit] {
        let sector = offset / Sector.byteCount + unit - units.lowerBound
        let start = sector * Sector.byteCount
        guard start >= inodes[inode].durable.byteCount,
          start + Sector.byteCount <= disk.inodes[inode].durable.byteCount
        else { continue }
        disk.inodes[inode].durable.write(.garbage, 0..<Sector.byteCount, at: start)
      }
    }
  }
}

/// What a power cut keeps of what was pending: everything else is lost.
package struct PowerCut: Sendable, Hashable {
  /// The units that had reached the medium, in order.
  package var kept: [Range<Int>]
  /// Whether lost sectors that never held anything hold garbage, and not zeros.
  package var hasGarbage: Bool

  package init(kept: [Range<Int>] = [], hasGarbage: Bool = false) {
    self.kept = kept
    self.hasGarbage = hasGarbage
  }
}

extension Payload {
  /// A sector of bytes that nobody has written.
  fileprivate static let garbage: Payload = {
    var random = SeededRandom(seed: 0xBAD)
    var bytes = ByteBuffer(capacity: Sector.byteCount)
    while bytes.count < Sector.byteCount { bytes.append(littleEndian: random.next()) }
    return Payload(bytes.bytes)
  }()
}

extension [Bool] {
  /// The longest ranges of places within `range` that hold `value`.
  func runs(of value: Bool, in range: Range<Int>) -> [Range<Int>] {
    var runs: [Range<Int>] = []
    var start = range.lowerBound
    while start < range.upperBound {
      if self[start] != value {
        start += 1
        continue
      }
      var end = start + 1
      while end < range.upperBound && self[end] == value { end += 1 }
      runs.append(start..<end)
      start = end
    }
    return runs
  }
}

extension Range<Int> {
  func shifted(by distance: Int) -> Range<Int> { lowerBound + distance..<upperBound + distance }
}
