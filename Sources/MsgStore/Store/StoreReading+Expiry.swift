extension StoreReading where Self: ~Copyable {
  /// The next time at which something that is shown now expires, or at which a mute ends; nil if
  /// nothing will.
  ///
  /// For an app that redraws at that moment. Costs a lookup. Messages of a deleted conversation
  /// count until it is removed from the store, which happens in the background, and its mute
  /// counts as well.
  ///
  /// - Throws: `storage`, `corruptRecord`.
  public var nextExpiry: Timestamp? {
    get throws(StoreError) {
      try access.read { (view) throws(StoreError) in
        let first =
          if let time = view.hiding.time { try view.expiry.first(after: time) } else {
            try view.expiry.first()
          }
        return first.map { Timestamp(microseconds: $0.time) }
      }
    }
  }
}
