import PageFile
import PageFileSalvage

/// The result of a salvage.
public struct SalvageSummary: Sendable, Hashable {
  /// The number of messages in the new store.
  public let messageCount: Int
  /// The number of conversations in the new store.
  public let conversationCount: Int
  /// The number of messages known to be lost, as far as conversations state their counts.
  public let lostMessageCount: Int
  /// The number of records that could not be read in pages that could.
  public let lostRecordCount: Int
  /// The number of pages that are lost.
  public let lostPageCount: Int
  /// The number of commits in the log that could not be applied.
  public let lostCommitCount: Int
  /// The number of outbox entries in the new store; all of them are held.
  public let entryCount: Int
  /// True if nothing is known to be lost.
  public let isWhole: Bool
  /// The report as `msgdump salvage` prints it: a line for each loss, and then the counts.
  ///
  /// The lines have names of conversations and ids of messages, and no texts. Control characters in
  /// them are escaped.
  public let lines: [String]

  init(_ pages: SalvageReport, _ saved: MessageSalvageReport) {
    messageCount = saved.messageCount
    conversationCount = saved.conversationCount
    lostMessageCount = saved.lostMessageCount
    lostRecordCount = saved.lostRecordCount
    lostPageCount = pages.lostPages.count
    lostCommitCount = pages.lostCommits.count
    entryCount = saved.entryCount
    isWhole = pages.isWhole && saved.isWhole
    lines = SalvageText(pages, saved).lines
  }
}

/// The progress of a salvage.
public struct SalvageProgress: Sendable, Hashable {
  /// A phase of a salvage.
  public enum Stage: Sendable, Hashable {
    /// The pages of the damaged data file are being read.
    case reading
    /// The records in the pages found are being stored in the new store.
    case saving
  }

  /// The current phase.
  public let stage: Stage
  /// The number of pages that this phase has finished.
  public let pageCount: Int
  /// The number of pages of this phase: at first all places of the data file, then the pages of
  /// records that were found.
  public let totalPageCount: Int
}
