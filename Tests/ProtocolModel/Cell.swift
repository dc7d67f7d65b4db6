/// One sector or page on the disk: what the medium holds, and what the system's memory holds.
///
/// A write changes the memory; a sync brings it to the medium. When power fails the medium has the
/// last content that was synced, or any that was written since: the system may have written on its own
/// at any moment.
struct Cell<Content: FixedWidthInteger & UnsignedInteger> {
  /// What the last sync has left on the medium.
  private(set) var settled: Content = 0
  /// What a read finds.
  private(set) var cached: Content = 0
  private(set) var isDirty = false
  /// What was written and overwritten since that sync, greatest first; zeros behind.
  private var between = Row6<Content>(repeating: 0)

  init(_ content: Content = 0) {
    settled = content
    cached = content
  }

  mutating func write(_ content: Content) {
    if isDirty { note(cached) }
    cached = content
    isDirty = true
  }

  mutating func sync() {
    if isDirty { self = Cell(cached) }
  }

  /// The system has given up writing: the medium has one of the outcomes, and the memory keeps what
  /// was written, or reads the medium again.
  mutating func fail(_ outcome: Content, keepsMemory: Bool) {
    let written = cached
    self = Cell(outcome)
    if keepsMemory { cached = written }
  }

  /// Whether a power cut may change what a read finds.
  var isUnsettled: Bool { isDirty || cached != settled }

  /// Notes a content that was overwritten before a sync.
  private mutating func note(_ content: Content) {
    if content == 0 || content == settled { return }
    var rest = content
    for index in 0..<6 {
      if between[index] == rest { return }
      if between[index] < rest { (between[index], rest) = (rest, between[index]) }
    }
    // Losing one would hide states.
    precondition(rest == 0, "too many contents between two syncs")
  }

  /// Calls `body` with each content that the medium may hold when power fails; some may come twice.
  func forEachOutcome(_ body: (Content) -> Void) {
    body(settled)
    if isDirty { forEachWritten(body) }
  }

  /// Calls `body` with everything in the cell; some may come twice.
  func forEachContent(_ body: (Content) -> Void) {
    body(settled)
    forEachWritten(body)
  }

  private func forEachWritten(_ body: (Content) -> Void) {
    if cached != settled { body(cached) }
    for index in 0..<6 {
      if between[index] == 0 { return }
      body(between[index])
    }
  }

  /// Replaces every content by another one.
  mutating func mapContents(_ change: (Content) -> Content) {
    settled = change(settled)
    cached = change(cached)
    guard isDirty else { return }
    let older = between
    between = Row(repeating: 0)
    for index in 0..<6 where older[index] != 0 { note(change(older[index])) }
    if settled == 0 && cached == 0 && between[0] == 0 { isDirty = false }
  }

  /// Adds the cell to a fingerprint.
  func mix(into fingerprint: inout Fingerprint) {
    fingerprint.mix(UInt64(settled) | UInt64(cached) << 32)
    guard isDirty else { return }
    fingerprint.mix(UInt64(between[0]) | UInt64(between[1]) << 32)
    if between[2] == 0 { return }
    for index in 2..<6 { fingerprint.mix(UInt64(between[index])) }
  }
}

/// A 64-bit hash of a state, which stands for the state in the table of those already seen.
struct Fingerprint {
  private(set) var value: UInt64 = 0x9E37_79B9_7F4A_7C15

  mutating func mix(_ word: UInt64) {
    let product = (value ^ word).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
    value = (product.high ^ product.low) &+ word.byteSwapped &* 0xA076_1D64_78BD_642F
  }
}
