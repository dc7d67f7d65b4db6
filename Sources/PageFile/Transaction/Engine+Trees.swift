import Synchronization

/// The number of trees of a file: 16, or 32 once somebody has asked for them.
///
/// See docs/page-file-format.md, M-14.
extension Engine {
  /// The number of trees that a write transaction which begins now may use.
  var treeCount: Int {
    hasMoreTrees.load(ordering: .acquiring) ? Roots.maximumCount : Roots.lowerCount
  }

  /// Publishes the feature `moreTrees` in both meta slots.
  ///
  ///  1. No commit has a frame of kind 5, and no meta slot an upper root, before both meta slots
  ///     have the feature durably. So a crash at any moment leaves a file of the old form, or one
  ///     of the new form without such frames.
  ///  2. Every later publication copies the features of the newest slot. An opening publishes the
  ///     slot that it has read in both slots before its first commit. So whichever slot a recovery
  ///     falls back to, it has the feature if a commit that follows it has such a frame; and
  ///     recovery refuses such a frame behind a slot without the feature.
  ///  3. A commit that is under way meanwhile has begun with 16 trees.
  func useMoreTrees() throws(PageFileError) {
    if pager.fork.hasForked { throw .forked }
    if options.access == .readOnly { throw .readOnly(reason: "opened for reading only") }
    if let ending { throw ending }
    if hasMoreTrees.load(ordering: .acquiring) { return }
    // Creates the parts that only writers need, in case nothing has been written yet.
    rollback(try beginWrite(.patient))
    try oneAtATime { () throws(PageFileError) in
      if let ending = state.withLock({ $0.ending }) { throw ending }
      guard let side = state.withLock({ $0.writing }) else { return }
      try side.wal.refuseIfPoisoned()
      var meta = side.checkpointer.meta
      meta.features.mustUnderstand |= MetaSlot.Features.moreTrees
      if Defect.moreTreesUnpublished.isPlanted {
        return hasMoreTrees.store(true, ordering: .releasing)
      }
      do throws(PageFileError) {
        try side.checkpointer.publish(meta)
      } catch {
        // A sync may have failed; the contents of the meta slots are then unknown.
        if !error.isRefusal { side.wal.setPoisoned() }
        throw error
      }
      hasMoreTrees.store(true, ordering: .releasing)
    }
  }
}
