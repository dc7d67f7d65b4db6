extension StoreReading where Self: ~Copyable {
  /// Returns the pinned or the starred messages of all conversations, to be read in slices.
  ///
  ///     let starred = try chat.tagged(.starred)
  ///     let page = try starred.newest(20)
  ///     if let older = page.older { _ = try starred.before(older, count: 20) }
  ///
  /// - Throws: `input(.tag)` for another tag, `storage`, `corruptRecord`.
  public func tagged(_ tag: MessageTag) throws(StoreError) -> TaggedEverywhere {
    access.readThrough()
    return try access.read { (view) throws(StoreError) in
      try view.threads.taggedEverywhere(tag)
    }
  }
}
