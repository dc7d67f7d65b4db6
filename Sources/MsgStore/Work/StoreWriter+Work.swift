import PageFile

/// The work that is done in steps, for tests and tools.
extension StoreWriter {
  /// Does a part of what is left to do.
  package func doWork() throws(StoreError) { try state.step() }

  /// Whether there is something left to do.
  package var hasWork: Bool { get throws(StoreError) { try state.hasWork } }
}

extension StoreSnapshot {
  /// Whether there is something left to do.
  package var hasWork: Bool {
    get throws(StoreError) {
      try within { (reader) throws(StoreError) in try reader.hasWork }
    }
  }
}
