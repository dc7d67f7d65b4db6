/// All that the server has said of a message's place, and the place that follows.
///
/// A later revision replaces an earlier one. Of one revision the smallest place wins, and a sequence
/// that only some of them have is kept: so the smallest of those with a sequence and the smallest
/// time of the others are kept apart. In whatever order they come, the same place follows.
struct PlaceFacts: Hashable {
  private var revision: Int64
  /// The smallest place with a sequence.
  private var sequenced: (time: Int64, sequence: Int64)?
  /// The smallest time without one.
  private var time: Int64?

  /// What one acknowledgement says; nil without a time.
  init?(_ time: Int64?, _ sequence: Int64?, revision: Int64) {
    guard let time else { return nil }
    self.revision = revision
    if let sequence { sequenced = (time, sequence) } else { self.time = time }
  }

  /// What is known of a message that is not here.
  init?(_ waiting: WaitingFacts) {
    guard let time = waiting.time else { return nil }
    revision = waiting.traits.revision
    if let sequence = waiting.sequence {
      sequenced = (waiting.traits.sequencedTime ?? time, sequence)
      if waiting.traits.sequencedTime != nil { self.time = time }
    } else {
      self.time = time
    }
  }

  /// What is known of a stored message.
  init(of message: StoredMessage, at place: Place) {
    revision = message.traits.revision
    if place.isPending {
      time = nil
      // A sequence that was known before the time says only itself.
      sequenced = message.pendingSequence.map { (.max, $0) }
    } else if let sequence = place.sequence {
      sequenced = (message.traits.sequencedTime ?? place.time, sequence)
      time = message.traits.sequencedTime == nil ? nil : place.time
    } else {
      time = place.time
    }
  }

  mutating func merge(_ other: PlaceFacts?) {
    guard let other else { return }
    guard other.revision == revision else {
      if other.revision > revision || isNothing { self = other }
      return
    }
    time = StoredMessage.earlier(time, other.time)
    guard let mine = sequenced, let theirs = other.sequenced else {
      sequenced = sequenced ?? other.sequenced
      return
    }
    if theirs < mine { sequenced = theirs }
  }

  /// Whether a time is known.
  var hasTime: Bool { !isNothing }

  private var isNothing: Bool { time == nil && (sequenced?.time ?? .max) == .max }

  /// The place; meaningful once a time is known.
  var place: Place {
    let sequencedTime = sequenced?.time ?? .max
    return .acknowledged(min(time ?? .max, sequencedTime), sequence: sequenced?.sequence)
  }

  /// Keeps what the place alone does not say.
  func keep(in message: inout StoredMessage) {
    message.traits.revision = revision
    if let sequenced, let time, time < sequenced.time {
      message.traits.sequencedTime = sequenced.time
    } else {
      message.traits.sequencedTime = nil
    }
  }

  static func == (a: Self, b: Self) -> Bool {
    a.revision == b.revision && a.time == b.time && a.sequenced?.time == b.sequenced?.time
      && a.sequenced?.sequence == b.sequenced?.sequence
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(revision)
    hasher.combine(time)
  }
}
