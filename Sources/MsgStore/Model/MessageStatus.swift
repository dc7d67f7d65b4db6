/// How far a message has come.
///
/// Three states are the server's knowledge and only rise: `sent`, `delivered`, `read`. The others
/// are what this device knows of a message that the server has not taken; they replace each other,
/// and lose to any knowledge of the server's. docs/message-states.md has the table of all
/// transitions.
///
/// The raw values are what is stored, in three bits, and say nothing about the order.
public enum MessageStatus: UInt8, Sendable, Hashable, CaseIterable {
  /// Queued: it waits for its turn to be sent.
  case pending = 0
  /// Could not be sent, and nothing happens to it until somebody decides.
  case failed = 1
  /// The server has it.
  case sent = 2
  /// A receiver's device has it; in a group, the devices of all active recipients.
  case delivered = 3
  /// It was read; in a group, by all active recipients.
  case read = 4
  /// Held back until something else is there: an upload, the conversation on the server, a key.
  case held = 5
  /// On its way to the server, which has not answered yet.
  case sending = 6
  /// An attempt failed, and the next one is made at a known time.
  case retrying = 7

  /// The status that three bits stand for: every value is one.
  @inline(__always)
  init(bits: UInt8) {
    // Folded to the number itself, where `init(rawValue:)` is a call.
    self =
      switch bits & 7 {
      case 0: .pending
      case 1: .failed
      case 2: .sent
      case 3: .delivered
      case 4: .read
      case 5: .held
      case 6: .sending
      default: .retrying
      }
  }

  /// Whether it says that the server has the message.
  @inlinable public var isServerKnowledge: Bool {
    switch self {
    case .sent, .delivered, .read: true
    case .pending, .held, .sending, .retrying, .failed: false
    }
  }

  /// What a list of messages shows beside one: whether it waits, is on the server, or needs help.
  @inlinable public var syncStatus: SyncStatus {
    switch self {
    case .pending, .held, .sending, .retrying: .pending
    case .failed: .failed
    case .sent, .delivered, .read: .synced
    }
  }

  /// What follows this state when another one is told; nil when nothing changes.
  ///
  /// The client moves a message among the local states for as long as the server knows nothing of
  /// it. The server's knowledge replaces a lower state of any kind, and a refusal by the server
  /// replaces a local one, so that the knowledge of the server's that was told ends in the same
  /// state whatever the order and however often it was told.
  public func after(_ event: MessageStatus, by cause: StatusCause) -> MessageStatus? {
    switch cause {
    case .client:
      guard !isServerKnowledge, !event.isServerKnowledge, event != self else { return nil }
    case .server:
      guard event.isServerKnowledge || event == .failed, event > self else { return nil }
    }
    return event
  }
}

extension MessageStatus: Comparable {
  /// Its place in the order of the states, from the one that has come least far.
  ///
  /// Of the local states, one with an attempt behind it is higher than one without. All that the
  /// server knows is higher than all that is local, `failed` too.
  @inlinable var rank: UInt8 {
    switch self {
    case .pending: 0
    case .held: 1
    case .sending: 2
    case .retrying: 3
    case .failed: 4
    case .sent: 5
    case .delivered: 6
    case .read: 7
    }
  }

  /// What has come less far comes first: pending, held, sending, retrying, failed, sent, delivered,
  /// read.
  @inlinable public static func < (a: Self, b: Self) -> Bool { a.rank < b.rank }
}

/// Whether what was composed here is on the server.
public enum SyncStatus: UInt8, Sendable, Hashable, CaseIterable {
  /// It still has to get there.
  case pending = 0
  /// The server has it.
  case synced = 1
  /// It did not get there, and somebody has to decide what becomes of it.
  case failed = 2
}

/// Who says that the status of a message is another one.
public enum StatusCause: Sendable, Hashable, CaseIterable {
  /// This device: its user, its queue, its connection.
  case client
  /// The server, or another device through it.
  case server
}
