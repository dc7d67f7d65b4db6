public import MsgStore

/// The options of a restore.
public struct RestoreOptions: Sendable, Hashable {
  /// True to skip unknown fields and kinds of lines, lines that are too long, and records that are
  /// already present, and to take the nearest plausible time for an implausible one; false to
  /// refuse them.
  public var isLenient = false
  /// True to number the messages of each conversation in the order of their lines: 1, 2, 3, ….
  ///
  /// Their lines must have no sequence numbers then.
  public var numbersFromOrder = false
  /// The member who owns the store; nil for the one that the lines name.
  public var localMember: MemberID?
  /// The names of unknown fields of messages that become own fields of them.
  ///
  /// The value is the text of a string, and of anything else its JSON; a field that is null is
  /// passed over.
  public var ownFields: Set<String> = []

  /// Creates the options.
  ///
  /// - Parameters:
  ///   - isLenient: True to skip what is unknown or repeated.
  ///   - numbersFromOrder: True to number messages in the order of their lines.
  ///   - localMember: The member who owns the store.
  public init(
    isLenient: Bool = false, numbersFromOrder: Bool = false, localMember: MemberID? = nil
  ) {
    self.isLenient = isLenient
    self.numbersFromOrder = numbersFromOrder
    self.localMember = localMember
  }
}

/// The result of a restore.
public struct RestoreSummary: Sendable, Hashable {
  /// The number of messages in the new store.
  public internal(set) var messageCount = 0
  /// The number of conversations in the new store.
  public internal(set) var conversationCount = 0
  /// The number of records passed over since they were already present; 0 unless lenient.
  public internal(set) var repeatedRecordCount = 0
  /// The number of lines passed over, of unknown kinds or too long; 0 unless lenient.
  public internal(set) var unknownLineCount = 0
  /// The number of unknown fields passed over; 0 unless lenient.
  public internal(set) var unknownFieldCount = 0
}

/// The progress of a restore.
public struct RestoreProgress: Sendable, Equatable {
  /// A phase of a restore.
  public enum Stage: Sendable, Hashable {
    /// Lines are being read and stored.
    case reading
    /// All lines are stored, and the new store is being made as small as possible.
    case compacting
  }

  /// The current phase.
  public internal(set) var stage = Stage.reading
  /// The number of lines stored.
  public internal(set) var lineCount = 0
  /// The number of bytes read.
  public internal(set) var byteCount = 0
  /// The number of bytes to read, or nil if that is not known.
  public internal(set) var totalByteCount: Int?
  /// The progress of the compaction; nil while lines are being read.
  public internal(set) var compaction: CompactionProgress?
}
