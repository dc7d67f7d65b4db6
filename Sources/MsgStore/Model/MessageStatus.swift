/// The delivery status of a message.
///
/// Three states are reported by the server and only rise: `sent`, `delivered`, `read`. The others
/// are local: this device's knowledge of a message that the server has not accepted. Local states
/// replace each other and lose to any state that the server reports. docs/message-states.md has the
/// table of all transitions.
///
/// The raw values are the stored ones, three bits each, and do not express the order.
public enum MessageStatus: UInt8, Sendable, Hashable, CaseIterable {
  /// Queued, waiting for its turn to be sent.
  case pending = 0
  /// Could not be sent; nothing happens until the user decides.
  case failed = 1
  /// The server has the message.
  case sent = 2
  /// A recipient's device has the message; in a group, the devices of all active recipients.
  case delivered = 3
  /// The message was read; in a group, by all active recipients.
  case read = 4
  /// Held back until something else is ready: an upload, the conversation on the server, a key.
  case held = 5
  /// On its way to the server, which has not answered yet.
  case sending = 6
  /// An attempt failed; the time of the next one is set.
  case retrying = 7

  /// Creates a status from three bits; every value is valid.
  @inline(__always)
  init(bits: UInt8) {
    // Compiles to the number itself, whereas `init(rawValue:)` is a call.
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

  /// True if the status means that the server has the message.
  @inlinable public var isServerKnowledge: Bool {
    switch self {
    case .sent, .delivered, .read: true
    case .pending, .held, .sending, .retrying, .failed: false
    }
  }

  /// The status as a list of messages shows it: waiting, on the server, or failed.
  @inlinable public var syncStatus: SyncStatus {
    switch self {
    case .pending, .held, .sending, .retrying: .pending
    case .failed: .failed
    case .sent, .delivered, .read: .synced
    }
  }

  /// Returns the status that follows this one after an event; nil if nothing changes.
  ///
  /// The client moves a message among the local states as long as the server does not know it. A
  /// state that the server reports replaces any lower state, and a refusal by the server replaces a
  /// local one. The server's reports therefore lead to the same state in any order and with any
  /// repetition.
  package func after(_ event: MessageStatus, by cause: StatusCause) -> MessageStatus? {
    switch cause {
    case .client:
      guard !isServerKnowledge, !event.isServerKnowledge, event != self else { return nil }
    case .server:
      guard event.isServerKnowledge || event == .failed, event > self else { return nil }
    }
    return event
  }

  /// Changes to the status that follows after an event.
  mutating func advance(to event: MessageStatus, by cause: StatusCause) {
    if let next = after(event, by: cause) { self = next }
  }
}

extension MessageStatus: Comparable {
  /// The rank in the order of the states, from the least advanced.
  ///
  /// Among local states, one with an attempt behind it ranks above one without. All states reported
  /// by the server rank above all local ones, including `failed`.
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

  /// Orders by progress: pending, held, sending, retrying, failed, sent, delivered, read.
  @inlinable public static func < (a: Self, b: Self) -> Bool { a.rank < b.rank }
}

/// The synchronisation state of something composed here.
public enum SyncStatus: UInt8, Sendable, Hashable, CaseIterable {
  /// Not on the server yet.
  case pending = 0
  /// The server has it.
  case synced = 1
  /// It did not reach the server, and the user has to decide what to do.
  case failed = 2
}

/// A status of a message that the server reports.
public enum ReportedStatus: Sendable, Hashable, CaseIterable {
  /// The server has the message.
  case sent
  /// A recipient's device has the message; in a group, the devices of all active recipients.
  case delivered
  /// The message was read; in a group, by all active recipients.
  case read

  /// The status of the message.
  public var messageStatus: MessageStatus {
    switch self {
    case .sent: .sent
    case .delivered: .delivered
    case .read: .read
    }
  }
}

/// The origin of a status change.
package enum StatusCause: Sendable, Equatable, CaseIterable {
  /// This device: its user, its queue, its connection.
  case client
  /// The server, or another device through the server.
  case server
}
