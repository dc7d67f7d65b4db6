/// The known facts of one own field, or of the kind, whose name is empty.
///
/// See docs/message-format.md, X-9. A register is *packed* if a value of more than 256 bytes is
/// replaced by its length and digest; the bytes lie elsewhere then. Packed registers of one name
/// are totally ordered, and the greatest counts.
package struct OwnRegister: Hashable, Sendable {
  package enum Content: Hashable, Sendable {
    case removed
    case value([UInt8])
    case large(byteCount: Int, digest: UInt64)

    package var byteCount: Int {
      switch self {
      case .removed: 0
      case .value(let bytes): bytes.count
      case .large(let byteCount, _): byteCount
      }
    }
  }

  /// The bytes of the name; empty for the kind.
  package var name: [UInt8]
  /// The time of the value; nil if it came with the message.
  package var time: Int64?
  package var isLocal: Bool
  package var content: Content

  package init(name: [UInt8], time: Int64?, isLocal: Bool, content: Content) {
    self.name = name
    self.time = time
    self.isLocal = isLocal
    self.content = content
  }

  package init(kind: String?, time: Int64?) {
    self.init(
      name: [], time: time, isLocal: false,
      content: kind.map { .value(Array($0.utf8)) } ?? .removed)
  }

  package var isLarge: Bool { if case .large = content { true } else { false } }

  package var isRemoved: Bool { content == .removed }

  /// The removal of the field, at a time one later than that of its value.
  package var removedLater: OwnRegister {
    let known = max(time ?? 0, 0)
    return OwnRegister(
      name: name, time: known == .max ? .max : known + 1, isLocal: isLocal, content: .removed)
  }

  /// The register without a value of more than 256 bytes.
  package var packed: OwnRegister {
    guard case .value(let bytes) = content, bytes.count > OwnField.maximumPackedByteCount else {
      return self
    }
    var packed = self
    packed.content = .large(byteCount: bytes.count, digest: Self.digest(bytes))
    return packed
  }

  /// Returns the 64-bit FNV-1a of bytes.
  package static func digest(_ bytes: [UInt8]) -> UInt64 {
    bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }

  /// Returns true if another packed register of the same name counts instead of this one.
  @inline(never)
  package func precedes(_ other: OwnRegister) -> Bool {
    if time != other.time {
      guard let time else { return true }
      guard let otherTime = other.time else { return false }
      return time < otherTime
    }
    if isRemoved != other.isRemoved { return isRemoved }
    if content.byteCount != other.content.byteCount {
      return content.byteCount < other.content.byteCount
    }
    switch (content, other.content) {
    case (.value(let mine), .value(let theirs)) where mine != theirs:
      return mine.lexicographicallyPrecedes(theirs)
    case (.large(_, let mine), .large(_, let theirs)) where mine != theirs: return mine < theirs
    default: return isLocal && !other.isLocal
    }
  }
}

/// The own fields of a message, and its kind, by the bytes of their names.
package struct OwnFields: Equatable, Sendable {
  package private(set) var all: [OwnRegister] = []

  package init() {}

  package init(_ fields: some Sequence<OwnField>) {
    for field in fields { put(field.register) }
  }

  /// Creates the fields from registers that ascend by the bytes of their names.
  init(sorted all: [OwnRegister]) { self.all = all }

  package var isEmpty: Bool { all.isEmpty }

  package var hasLarge: Bool { all.contains { $0.isLarge } }

  /// The number of named fields, removed ones included.
  package var namedCount: Int { all.count - (all.first?.name.isEmpty == true ? 1 : 0) }

  /// Returns the index of a name, or of the first one behind it.
  @inline(never)
  private func search(_ name: [UInt8]) -> (index: Int, isFound: Bool) {
    let index = all.firstIndex { !$0.name.lexicographicallyPrecedes(name) } ?? all.count
    return (index, index < all.count && all[index].name == name)
  }

  package subscript(name: [UInt8]) -> OwnRegister? {
    let (index, isFound) = search(name)
    return isFound ? all[index] : nil
  }

  /// Sets a field, whatever is known of it.
  @inline(never)
  package mutating func put(_ register: OwnRegister) {
    let (index, isFound) = search(register.name)
    if isFound { all[index] = register } else { all.insert(register, at: index) }
  }

  /// Removes all that is known of a field.
  @inline(never)
  package mutating func forget(_ name: [UInt8]) { all.removeAll { $0.name == name } }

  /// Merges what is known of one field, packed.
  ///
  /// Of too many names the least stay. That is a join, too: a name that goes has sixteen lesser
  /// ones, which never go.
  @inline(never)
  package mutating func merge(_ register: OwnRegister) {
    if let old = self[register.name], !old.precedes(register),
      !StoreDefect.olderOwnFieldWins.isPlanted
    {
      return
    }
    put(register)
    while namedCount > OwnField.maximumCount { all.removeLast() }
  }

  /// Merges the packed fields of another copy.
  @inline(never)
  package mutating func merge(_ other: OwnFields) {
    for register in other.all { merge(register) }
  }

  /// The kind; nil for an owner without one.
  package var kind: String? {
    guard let first = all.first, first.name.isEmpty, case .value(let bytes) = first.content else {
      return nil
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The fields that were not removed.
  package var fields: [OwnField] {
    all.lazy.filter { !$0.name.isEmpty && !$0.isRemoved }.map { OwnField($0, isKind: false) }
  }

  /// The fields of which the server is told.
  package var shared: OwnFields {
    var shared = self
    shared.all.removeAll { $0.isLocal }
    return shared
  }

  /// The number of bytes of all names and values.
  package var byteCount: Int { all.reduce(0) { $0 + $1.name.count + $1.content.byteCount } }
}

extension OwnField {
  /// Refuses statements beyond the limits, or with a time that is not plausible.
  package static func validate(_ fields: some Sequence<OwnField>) throws(StoreError) {
    var names: Set<[UInt8]> = []
    var byteCount = 0
    for field in fields {
      try validate(field)
      try field.time?.validate()
      if !field.isKind { names.insert(Array(field.name.utf8)) }
      byteCount += field.name.utf8.count + (field.value?.count ?? 0)
    }
    try validate(count: names.count, byteCount: byteCount)
  }

  fileprivate static func validate(_ field: OwnField) throws(StoreError) {
    if field.isKind { try validate(kind: field.content) } else { try validate(name: field.name) }
  }

  package static func validate(count: Int, byteCount: Int) throws(StoreError) {
    guard count <= maximumCount else {
      throw .input(.tooMany(.ownFields, count: count, limit: maximumCount))
    }
    guard byteCount <= maximumByteCount else {
      throw .input(.tooLong(.ownFields, byteCount: byteCount, limit: maximumByteCount))
    }
  }

  package static func validate(name: String) throws(StoreError) {
    let byteCount = name.utf8.count
    guard 1...maximumNameByteCount ~= byteCount else {
      throw .input(.ownFieldName(byteCount: byteCount, limit: maximumNameByteCount))
    }
  }

  fileprivate static func validate(kind: OwnRegister.Content) throws(StoreError) {
    guard kind == .removed || 1...maximumKindByteCount ~= kind.byteCount else {
      throw .input(.ownKind(byteCount: kind.byteCount, limit: maximumKindByteCount))
    }
  }
}

extension OwnFields {
  /// Refuses fields that no store has.
  ///
  /// Statements received one by one may have more bytes together than may be received at once.
  package func validate() throws(StoreError) {
    for register in all {
      try OwnField.validate(OwnField(register, isKind: register.name.isEmpty))
      try OwnField.validate(count: namedCount, byteCount: register.content.byteCount)
    }
  }
}
