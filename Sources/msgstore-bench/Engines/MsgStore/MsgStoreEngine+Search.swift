import MsgStore

extension MsgStoreEngine: SearchEngine {
  var foldsASCIIOnly: Bool { false }
  var indexByteCount: Int { 0 }

  func search(_ term: String, in conversation: Int?, count: Int) throws -> Reading {
    let store = try current
    let id = conversation.map { ids[$0] }
    var reading = makeReading()
    reading.nanoseconds = try timed {
      var query = try SearchQuery(term)
      query.conversation = id
      for hit in try store.read({ try $0.search(query, count: count) }) {
        let message = hit.message
        reading.digest.fold(
          fields(of: message, in: message.conversation, after: nil).mixed,
          whole: Fingerprint.of(
            whole(message, in: ids.firstIndex(of: message.conversation) ?? 0)))
      }
    }
    return reading
  }

  func matchCount(_ term: String) throws -> Int {
    let store = try current
    var count = 0
    var edge: SearchEdge? = SearchEdge(try SearchQuery(term))
    while let start = edge {
      let slice = try store.read { try $0.search(from: start, count: 1_000) }
      count += slice.count
      edge = slice.edge
    }
    return count
  }
}
