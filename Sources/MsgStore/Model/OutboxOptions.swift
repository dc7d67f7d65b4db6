/// How the outbox goes about its work.
public struct OutboxOptions: Sendable {
  /// Whether what the local member does is entered into the outbox.
  ///
  /// A client with a queue of its own turns it off. What is in the outbox already stays there.
  public var isOn = true
  /// After how many attempts that failed an entry is given up; nil: never, which is the default.
  public var attemptCountMax: Int?
  /// How old an entry may be when it is handed out, by the store's clock; nil: any age, which is the
  /// default.
  public var ageMax: Duration?
  /// How the server wants to be told what was read and delivered; a count of names outside of
  /// 1 to `PendingReceipt.idCountMax` is taken for the nearest one inside.
  public var receiptForm = PendingReceipt.Form.mark

  /// The wait after the first failed attempt, in microseconds: a second, and twice as long after each
  /// further one.
  static let delayMin: Int64 = 1_000_000
  /// The longest wait, in microseconds: five minutes.
  static let delayMax: Int64 = 300_000_000
  /// The shortest and the longest lease, in microseconds: a millisecond and a day.
  static let leaseRange: ClosedRange<Int64> = 1000...86_400_000_000
  /// The most bytes of the client's own work.
  public static let payloadByteCountMax = 1 << 20

  /// Where in the second half of a wait the attempt is made, from 0 to 1: chance, so that many
  /// clients that lost one server do not all come back at once.
  package var chance: @Sendable () -> Double = { Double.random(in: 0...1) }

  /// Everything is entered, and nothing is ever given up by itself.
  public init() {}

  /// How long to wait after so many failed attempts in a row, in microseconds.
  ///
  /// Exponential, with "equal jitter": half of it is fixed and half is chance. Source: "Exponential
  /// Backoff And Jitter", AWS Architecture Blog, 2015.
  func delay(afterFailures count: UInt64) -> Int64 {
    let doublings = min(max(count, 1) - 1, 20)
    let whole = min(Self.delayMin << Int64(doublings), Self.delayMax)
    return whole / 2 + Int64(Double(whole / 2) * min(max(chance(), 0), 1))
  }
}

extension FailureKind {
  /// Whether the server has answered that it does not take it: then trying again does not help.
  var isRefusal: Bool {
    switch self {
    case .permission, .notFound, .invalid: true
    case .noConnection, .timeOut, .other: false
    }
  }
}

extension Duration {
  /// In microseconds; the most there is where that is too long.
  var microseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000)
    let (sum, isTooMuch) = product.addingReportingOverflow(attoseconds / 1_000_000_000_000)
    return isTooLong || isTooMuch ? (seconds < 0 ? .min : .max) : sum
  }
}
