/// The behaviour of the outbox.
public struct OutboxOptions: Sendable {
  /// True if the acts of the local member are entered into the outbox.
  ///
  /// Restores and salvage turn this off. Entries already in the outbox stay there.
  package var isEnabled = true
  /// The number of failed attempts after which an entry is given up; nil, the default, means never.
  public var maximumAttemptCount: Int?
  /// The maximum age of an entry when it is leased, by the store's clock; nil, the default, allows
  /// any age.
  public var maximumAge: Duration?
  /// The form in which the server expects read and delivery receipts.
  ///
  /// A count of ids outside 1 to `PendingReceipt.maximumIDCount` is clamped to that range.
  public var receiptForm = PendingReceipt.Form.mark

  /// The delay after the first failed attempt, in microseconds: one second, doubled after each
  /// further failure.
  static let delayMin: Int64 = 1_000_000
  /// The longest delay, in microseconds: five minutes.
  static let maximumDelay: Int64 = 300_000_000
  /// The shortest and the longest lease, in microseconds: one millisecond and one day.
  static let leaseRange: ClosedRange<Int64> = 1000...86_400_000_000
  /// The most sends in a run.
  static let maximumRunCount = 256
  /// The most bytes in the payload of client work.
  public static let maximumPayloadByteCount = 1 << 20

  /// Returns the random share, from 0 to 1, of the second half of a delay.
  ///
  /// Randomness keeps many clients that lost the same server from returning all at once.
  package var chance: @Sendable () -> Double = { Double.random(in: 0...1) }

  /// Creates options that enter everything and never give up on an entry.
  public init() {}

  /// Returns the delay after a number of failed attempts in a row, in microseconds.
  ///
  /// Exponential, with "equal jitter": half of the delay is fixed and half is random. Source:
  /// "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
  func delay(afterFailures count: UInt64) -> Int64 {
    let doublings = min(max(count, 1) - 1, 20)
    let whole = min(Self.delayMin << Int64(doublings), Self.maximumDelay)
    return whole / 2 + Int64(Double(whole / 2) * min(max(chance(), 0), 1))
  }
}

extension FailureKind {
  /// True if the server answered and rejected the request, so that retrying does not help.
  var isRefusal: Bool {
    switch self {
    case .permission, .notFound, .invalid: true
    case .noConnection, .timeOut, .other: false
    }
  }
}

extension Duration {
  /// The duration in microseconds, clamped to the range of `Int64`.
  var microseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000)
    let (sum, isTooMuch) = product.addingReportingOverflow(attoseconds / 1_000_000_000_000)
    return isTooLong || isTooMuch ? (seconds < 0 ? .min : .max) : sum
  }
}
