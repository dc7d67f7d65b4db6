/// How stores are opened in a run, and on what disk.
package struct StoreSetting: Sendable, Hashable {
  package var pageByteCount: Int
  package var cacheByteCount: Int
  package var profile: DiskProfile
  /// A mistake in the model, planted by tests to see that the model is what decides: relaxed commits
  /// are taken for durable ones.
  package var takesRelaxedForFull = false
  /// Where the seals of an encrypted store draw from; nil for a plain one.
  package var seals: SealSource?

  package init(
    pageByteCount: Int = 4096, cacheByteCount: Int = 1 << 18, profile: DiskProfile = .worst,
    seals: SealSource? = nil
  ) {
    self.pageByteCount = pageByteCount
    self.cacheByteCount = cacheByteCount
    self.profile = profile
    self.seals = seals
  }
}
