/// The names of a message: its own, which it keeps; the one in its key; and all others.
///
/// Where several are given, the least of each kind is taken, so the order in which they came does
/// not matter.
struct Names {
  private(set) var own: MessageID
  private(set) var key: MessageID
  private(set) var all: Set<MessageID>
  /// The names that were not taken, because the message has too many.
  private(set) var refused: [MessageID] = []
  private var hasServerName: Bool

  init(of message: StoredMessage, at position: MessagePosition) {
    key = position.id
    own = message.traits.names.first ?? position.id
    all = Set(message.traits.names + [position.id])
    hasServerName = !message.traits.names.isEmpty
  }

  /// All names: the own one first, then the one in the key.
  var inOrder: [MessageID] {
    (own == key ? [own] : [own, key]) + all.subtracting([own, key]).sorted()
  }

  /// All names except the one in the key, the own name first.
  var besidesKey: [MessageID] {
    let others = all.subtracting([own, key]).sorted()
    let names = own == key ? others : [own] + others
    return Array(names.prefix(MessageTraits.maximumNameCount))
  }

  /// Adds a name that is neither the least own name nor the least of the server's.
  mutating func add(_ name: MessageID) { _ = take(name) }

  /// Returns true if the name is new.
  @inline(never)
  private mutating func take(_ name: MessageID) -> Bool {
    guard !all.contains(name) else { return false }
    guard all.count <= MessageTraits.maximumNameCount else {
      refused.append(name)
      return false
    }
    return all.insert(name).inserted
  }

  /// Adds the names of a message, one of which is the server's.
  mutating func add(_ others: Names) {
    add(others.key, isOwn: false)
    if others.own != others.key { add(others.own, isOwn: true) }
    for name in others.all.sorted() { add(name) }
  }

  @inline(never)
  mutating func add(_ name: MessageID, isOwn: Bool) {
    guard take(name) else { return }
    if isOwn {
      // The name taken for its own turns out to be the server's when a client's name comes.
      own = hasServerName ? min(own, name) : name
    } else {
      key = hasServerName ? min(key, name) : name
    }
    hasServerName = true
  }
}
