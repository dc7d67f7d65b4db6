import PageFile

/// The merged statements of the server about a message's place, and the place that follows from
/// them.
///
/// See docs/message-format.md, G-3.
///
/// A later revision replaces an earlier one. Within one revision the smallest place wins, and a
/// sequence that only some of the statements have is kept. For that, the smallest place with a
/// sequence and the smallest time without one are kept apart. The result does not depend on the
/// order of the statements.
package struct PlaceFacts {
  private var revision: Int64
  /// The smallest place with a sequence.
  ///
  /// A sequence that came without a time sorts behind all others.
  private var sequenced: (time: Int64, sequence: Int64)?
  /// The smallest time that came without a sequence.
  private var time: Int64?
  /// True if the server has stated a time; a message without one is pending.
  package private(set) var isPlaced: Bool

  /// Creates the facts for one statement of the server; returns nil if it has neither time nor
  /// sequence.
  package init?(_ time: Int64?, _ sequence: Int64?, revision: Int64 = 0) {
    if time == nil && sequence == nil { return nil }
    self.revision = revision
    isPlaced = time != nil
    if let sequence { sequenced = (time ?? .max, sequence) } else { self.time = time }
  }

  /// Creates the facts known of a message that is not here; returns nil without a time.
  init?(_ waiting: WaitingFacts) {
    guard let time = waiting.time else { return nil }
    isPlaced = true
    revision = waiting.traits.revision
    if let sequence = waiting.sequence {
      sequenced = (waiting.traits.sequencedTime ?? time, sequence)
      if waiting.traits.sequencedTime != nil { self.time = time }
    } else {
      self.time = time
    }
  }

  /// Creates the facts known of a stored message.
  init(of message: StoredMessage, at place: Place) {
    revision = message.traits.revision
    isPlaced = !place.isPending
    if place.isPending {
      time = nil
      sequenced = message.pendingSequence.map { (.max, $0) }
    } else if let sequence = place.sequence {
      sequenced = (message.traits.sequencedTime ?? place.time, sequence)
      time = message.traits.sequencedTime == nil ? nil : place.time
    } else {
      time = place.time
    }
  }

  package mutating func merge(_ other: PlaceFacts?) {
    guard let other else { return }
    guard other.revision == revision || StoreDefect.revisionIgnored.isPlanted else {
      if other.revision > revision { self = other }
      return
    }
    isPlaced = isPlaced || other.isPlaced
    time = StoredMessage.earlier(time, other.time)
    guard let mine = sequenced, let theirs = other.sequenced else {
      sequenced = sequenced ?? other.sequenced
      return
    }
    if StoreDefect.largerPlaceWins.isPlanted ? theirs > mine : theirs < mine { sequenced = theirs }
  }

  /// Returns the place of a message that was at another one.
  ///
  /// A pending message keeps its local order and moves with its local time.
  func place(of message: StoredMessage, from old: Place) -> Place {
    isPlaced ? place : .pending(message.localTime ?? old.time, localOrder: old.rank)
  }

  /// The resulting place; meaningful once a time is known.
  package var place: Place {
    .acknowledged(
      min(time ?? .max, sequenced?.time ?? .max), sequence: sequenced?.sequence)
  }

  /// Keeps in a message's record what its place alone does not tell.
  package func keep(in message: inout StoredMessage) {
    message.traits.revision = revision
    message.pendingSequence = isPlaced ? nil : sequenced?.sequence
    if let sequenced, let time, time < sequenced.time {
      message.traits.sequencedTime = sequenced.time
    } else {
      message.traits.sequencedTime = nil
    }
  }
}

extension WaitingFacts {
  /// The place that was acknowledged before the message came.
  package var place: PlaceFacts? { PlaceFacts(self) }
}
