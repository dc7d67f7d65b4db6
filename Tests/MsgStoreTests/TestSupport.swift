import Foundation
import MsgStore
import MsgStoreTools
import PageFile
import Simulation
import Testing

/// Repeatable randomness (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }

  mutating func bytes(_ count: Int) -> [UInt8] {
    var buffer = ByteBuffer(capacity: count + 8)
    while buffer.count < count { buffer.append(littleEndian: next()) }
    buffer.truncate(to: count)
    return buffer.bytes.array()
  }
}

/// Seeds for a random test: another one in each run, printed; `MSGSTORE_SEED=n` replays one.
/// - Parameter debugCount: How many in a debug build, see `Scale`.
func seeds(_ count: Int, debugCount: Int? = nil) -> [UInt64] {
  if let text = ProcessInfo.processInfo.environment["MSGSTORE_SEED"], let seed = UInt64(text) {
    return [seed]
  }
  let count = Scale.count(debug: debugCount ?? count, release: count)
  let seeds = (0..<count).map { _ in UInt64.random(in: 0..<1 << 32) }
  print("seeds: \(seeds)")
  return seeds
}

extension PackingSizes {
  /// What a store has; `MSGSTORE_EAGER=1` packs as much as can be, into tiny segments, in all
  /// tests.
  static let usual =
    ProcessInfo.processInfo.environment["MSGSTORE_EAGER"] == nil
    ? PackingSizes() : PackingSizes(looseCount: 1, maximumSegmentByteCount: 300)

  /// The sizes of a random test: many small segments in two of three.
  static func random(_ seed: UInt64) -> PackingSizes {
    var random = SeededGenerator(seed: seed ^ 0x5E6)
    guard random.chance(67) else { return .usual }
    return PackingSizes(
      looseCount: [0, 1, 2, 5, 9].randomElement(using: &random) ?? 0,
      maximumSegmentByteCount: [90, 150, 300, 1000, .max].randomElement(using: &random) ?? 300)
  }
}

/// A place in a thread as the description of the order says it, and the order written from that.
struct NaivePlace {
  var serverTime: Int64?
  var sequence: Int64?
  var localTime: Int64
  var localOrder: Int64
  var id: String

  static func precedes(_ a: NaivePlace, _ b: NaivePlace) -> Bool {
    switch (a.serverTime, b.serverTime) {
    case (_?, nil): return true  // acknowledged messages first
    case (nil, _?): return false
    case (let x?, let y?):
      if x != y { return x < y }  // by server time
      switch (a.sequence, b.sequence) {
      case (_?, nil): return true  // a missing sequence after any number
      case (nil, _?): return false
      case (let p?, let q?) where p != q: return p < q
      default: return Array(a.id.utf8).lexicographicallyPrecedes(Array(b.id.utf8))
      }
    case (nil, nil):
      if a.localTime != b.localTime { return a.localTime < b.localTime }
      if a.localOrder != b.localOrder { return a.localOrder < b.localOrder }  // as written here
      // Within a conversation no two have the same local order; places of two may be compared.
      return Array(a.id.utf8).lexicographicallyPrecedes(Array(b.id.utf8))
    }
  }

  var position: MessagePosition {
    MessagePosition(
      serverTime.map { Place.acknowledged($0, sequence: sequence) }
        ?? .pending(localTime, localOrder: localOrder),
      MessageID(id))
  }
}

extension AttachmentLimits {
  /// Limits like those of a server: images of up to 2 MB, documents of up to 10 MB.
  static let tight = AttachmentLimits(
    rules: [
      .image: Rule(maximumByteCount: 2_000_000), .document: Rule(maximumByteCount: 10_000_000),
    ])
}

/// A store in memory.
func memoryStore(
  _ directory: MemoryDirectory = MemoryDirectory(), localMember: MemberID? = "me",
  clock: Int64 = 1_000_000, packs: Bool = true, packing: PackingSizes = .usual,
  prunesByItself: Bool = true
) throws -> MessageStore {
  var options = StoreOptions(
    localMember: localMember, clock: { Timestamp(microseconds: clock) })
  options.createsConversationsOnSend = true
  options.packs = packs
  options.packing = packing
  options.prunesByItself = prunesByItself
  return try MessageStore(in: directory, name: "store", options: options)
}

extension StoreOptions {
  /// These options, by which a message may be sent to a conversation that is not there.
  var makingConversations: StoreOptions {
    var options = self
    options.createsConversationsOnSend = true
    return options
  }
}

func message(
  _ id: MessageID, at time: Int64?, _ sequence: Int64? = nil, from sender: MemberID = "you",
  local: Int64? = nil, text: String = "hello"
) -> Message {
  Message(
    id: id, in: "room", from: sender, text: text,
    localTime: local.map { Timestamp(microseconds: $0) },
    serverTimestamp: time.map { Timestamp(microseconds: $0) }, sequence: sequence)
}

func time(_ microseconds: Int64) -> Timestamp { Timestamp(microseconds: microseconds) }

/// Waits on the calling thread, also in a test that is asynchronous itself.
func blockUntilDurable(_ commit: PendingCommit<some Sendable>) throws(StoreError) {
  try commit.waitUntilDurable()
}

extension MessageSlice {
  var ids: [String] { map(\.id.string) }
}

extension MessageStore {
  func expectSound(_ location: SourceLocation = #_sourceLocation) throws {
    let findings = try check()
    #expect(findings == [], sourceLocation: location)
  }
}

/// Lets other tasks run until a condition holds; throws when the test's time is over.
func wait(until isOver: () async throws -> Bool) async throws {
  while try await !isOver() {
    try Task.checkCancellation()
    await Task.yield()
  }
}
