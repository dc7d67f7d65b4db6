/// Where a group sync is: the name says what comes next.
enum GroupSyncStep: UInt8 {
  case none
  case syncOlderFile
  case syncCurrentFile
  case finish
}

/// Where a checkpoint is: the name says what comes next.
enum CheckpointStep: UInt8 {
  case none
  /// Closing begins no other file, unless something is to be erased.
  case syncLastFile
  case syncEndedFile
  case syncNewFile
  case writePages
  case syncPages
  case writeFirstSlot
  case syncFirstSlot
  case writeSecondSlot
  case syncSecondSlot
  case show
  case eraseEndedFile
  case syncErasedFile
}

/// Where an opening is, or the first write after a clean close: the name says what comes next.
enum OpeningStep: UInt8 {
  case syncDirectory
  case makeFiles
  case syncNewNames
  case rewriteMeta
  case syncRewrittenMeta
  case writePages
  case syncPages
  case writeFirstSlot
  case syncFirstSlot
  case writeSecondSlot
  case syncSecondSlot
  case beginLog
  case syncBegunLog
  case emptyOtherLog
  case syncEmptiedLog
  case writeFirstSlotInUse
  case syncFirstSlotInUse
  case writeSecondSlotInUse
  case syncSecondSlotInUse
  // After a clean close.
  case syncDirectoryAfterClose
  case rewriteMetaAfterClose
  case syncMetaAfterClose
  case beginLogAfterClose
  case syncLogAfterClose
}

/// What the model finds wrong.
package enum ProtocolViolation: Sendable, Equatable, CustomStringConvertible {
  /// A store that only crashes have touched is not opened.
  case refused(String)
  /// What is found is none of the states the store has been in.
  case notAPrefix
  /// A commit that was said to be durable is missing.
  case lostDurable
  /// A commit is missing although the system has lost nothing.
  case lostByKill
  /// Pages and history do not belong together.
  case wrongContent
  /// A reader reads a slot that was written over.
  case slotOverwritten
  /// A commit that is proven to have been durable was damaged, and this is not noticed.
  case damagePassedOver
  /// One damaged meta slot, at rest, makes a store unreadable.
  case metaNotRedundant

  package var description: String {
    switch self {
    case .refused(let reason): "a store that only crashes have touched is refused: \(reason)"
    case .notAPrefix: "what is found is no prefix of what was committed"
    case .lostDurable: "a commit that was said to be durable is lost"
    case .lostByKill: "a commit is lost although only the process has died"
    case .wrongContent: "the pages are not those of the commits that count"
    case .slotOverwritten: "a reader reads a slot that was written over"
    case .damagePassedOver: "a damaged commit that is proven to have been durable is passed over"
    case .metaNotRedundant: "one damaged meta slot, at rest, makes the store unreadable"
    }
  }
}

/// The steps that may be taken from one state.
final class Steps {
  private(set) var states: [State] = []
  private(set) var labels: [String] = []
  /// The first step that is wrong.
  private(set) var wrong: (violation: ProtocolViolation, step: Int)?
  private let hasLabels: Bool

  init(hasLabels: Bool) { self.hasLabels = hasLabels }

  func add(_ state: State, _ violation: ProtocolViolation?, _ label: @autoclosure () -> String) {
    if let violation, wrong == nil { wrong = (violation, states.count) }
    states.append(state)
    if hasLabels { labels.append(label()) }
  }

  func removeAll() {
    states.removeAll(keepingCapacity: true)
    labels.removeAll()
    wrong = nil
  }
}
