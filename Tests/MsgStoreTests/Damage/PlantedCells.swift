import PageFile

extension MemoryDirectory {
  /// Changes the cells of the store of this name as no store would.
  func plant(in name: String, _ body: (PageSource) throws -> Void) throws {
    let database = try Database(in: self, name: name)
    let transaction = try database.beginWrite()
    try transaction.source.enter()
    do {
      defer { transaction.source.leave() }
      try body(transaction.source)
    }
    _ = try transaction.commit(.full)
    try database.close()
  }
}
