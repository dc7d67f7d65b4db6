/// What a file system promises about changes that were not synced when power failed, beyond the
/// nothing that `worst` promises.
///
/// The store has to survive `worst`; the others are there to reproduce what is seen on real ones.
package struct DiskProfile: Sendable, Hashable {
  package var name: String
  /// Names change in the order of the calls.
  package var keepsOrderOfNames = false
  /// Syncing a file makes earlier changes of names durable, too, as a journal of metadata does.
  package var syncsNamesWithFiles = false
  /// A size is durable only after the bytes below it.
  package var keepsSizesBehindData = false
  /// What survives is what was there at some earlier moment.
  package var keepsOrderOfAll = false
  /// Syncs return without having done anything.
  package var isLiar = false

  /// Any subset of the sectors, sizes, and names.
  package static var worst: DiskProfile { DiskProfile(name: "worst") }

  /// A journal for names and sizes, data written before the sizes that show it.
  package static var ext4: DiskProfile {
    DiskProfile(
      name: "ext4", keepsOrderOfNames: true, syncsNamesWithFiles: true, keepsSizesBehindData: true)
  }

  /// As ext4, but a size does not wait for data.
  package static var xfs: DiskProfile {
    DiskProfile(name: "xfs", keepsOrderOfNames: true, syncsNamesWithFiles: true)
  }

  /// One moment of the whole tree, or what was synced since.
  package static var btrfs: DiskProfile { DiskProfile(name: "btrfs", keepsOrderOfAll: true) }

  /// Names in order; the full sync is durable.
  package static var apfs: DiskProfile { DiskProfile(name: "apfs", keepsOrderOfNames: true) }

  /// A device that acknowledges syncs it has not done.
  package static var liar: DiskProfile { DiskProfile(name: "liar", isLiar: true) }

  package static var all: [DiskProfile] { [.worst, .ext4, .xfs, .btrfs, .apfs, .liar] }

  /// Takes away what this file system would not have kept without something that was lost.
  func restrict(_ kept: inout [Bool], of pending: [PendingOperation]) {
    if keepsOrderOfAll {
      if let lost = kept.firstIndex(of: false) {
        for unit in lost..<kept.count { kept[unit] = false }
      }
      return
    }
    guard keepsOrderOfNames || keepsSizesBehindData else { return }
    var hasLostName = false
    var inodesWithLostData: [Int] = []
    var unit = 0
    for operation in pending {
      let units = unit..<unit + operation.unitCount
      unit = units.upperBound
      switch (operation.change, operation.inode) {
      case (.link, _), (.unlink, _):
        guard keepsOrderOfNames else { continue }
        if hasLostName { kept[units.lowerBound] = false }
        if !kept[units.lowerBound] { hasLostName = true }
      case (.size, let inode?):
        if keepsSizesBehindData && inodesWithLostData.contains(inode) {
          kept[units.lowerBound] = false
        }
      case (.write, let inode?):
        if units.contains(where: { !kept[$0] }) { inodesWithLostData.append(inode) }
      default: break
      }
    }
  }
}
