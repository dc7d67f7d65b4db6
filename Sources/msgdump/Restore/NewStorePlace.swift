import MsgStoreTools

/// A place whose files a signal removes.
extension NewStorePlace {
  /// Checks that a place is free, and has a signal remove what is made there.
  ///
  /// - Parameter work: The name of the command that makes the store.
  init(path: String, work: String, suffix: String) throws {
    try self.init(path: path, work: work, suffix: suffix, watch: System.removeWhenInterrupted)
  }

  /// Removes what an earlier command left of stores under way, and has a signal remove what this
  /// one leaves.
  static func claim(_ stores: [String], _ work: String) throws {
    try claim(stores, work, watch: System.removeWhenInterrupted)
  }
}
