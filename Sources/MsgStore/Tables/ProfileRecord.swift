package import PageFile

/// The profile of a member, or that it was forgotten.
///
/// See docs/message-format.md, N-6 and N-7.
package struct ProfileRecord: StoredRecord, Equatable {
  package static let table = Table(Schema.directory, "profile", keys: KeyEncoding.numberByteCount)

  package private(set) var version: Int64 = 0
  package private(set) var fetchedAt: Int64?
  /// True if the profile was forgotten at this version and time.
  package private(set) var isForgotten = false
  package private(set) var name: String?
  package private(set) var picture: String?

  package init() {}

  package init(_ profile: MemberProfile) {
    version = max(0, profile.version)
    fetchedAt = profile.fetchedAt?.microseconds
    name = profile.name
    picture = profile.picture
  }

  /// Creates what remains of a forgotten profile.
  package init(forgottenAt version: Int64, fetchedAt: Int64?) {
    self.version = max(0, version)
    self.fetchedAt = fetchedAt
    isForgotten = true
  }

  package mutating func visit(_ fields: inout (some FieldVisitor & ~Copyable)) {
    fields.tag(1)
    fields.flags(.byte)
    fields.mark(1, &isForgotten)
    fields.varint(&version, "version of the server")
    fields.optional(2, &fetchedAt, or: 0) { $0.fixed(&$1, "time of the fetch") }
    fields.optional(4, &name, or: "") {
      $0.bytes(&$1, .uint16, in: 0...MemberProfile.maximumNameByteCount, "name, UTF-8")
    }
    fields.optional(8, &picture, or: "") {
      $0.bytes(
        &$1, .uint16, in: 0...MemberProfile.maximumPictureByteCount, "picture reference, UTF-8")
    }
    fields.require(!isForgotten || name == nil && picture == nil)
  }

  /// Returns the profile, or nil if it was forgotten.
  package func profile(of id: MemberID) -> MemberProfile? {
    if isForgotten { return nil }
    return MemberProfile(
      of: id, name: name, picture: picture, version: version,
      fetchedAt: fetchedAt.map { Timestamp(microseconds: $0) })
  }

  /// Returns true if another record of the member counts instead of this one.
  package func precedes(_ other: ProfileRecord) -> Bool {
    if version != other.version { return version < other.version }
    if fetchedAt != other.fetchedAt { return (fetchedAt ?? .min) < (other.fetchedAt ?? .min) }
    if isForgotten || other.isForgotten {
      return other.isForgotten && !isForgotten && !StoreDefect.forgottenProfileLoses.isPlanted
    }
    if !name.hasSameBytes(as: other.name) { return name.precedesByBytes(other.name) }
    return picture.precedesByBytes(other.picture)
  }

  // Strings are equal here if their bytes are.
  package static func == (a: Self, b: Self) -> Bool {
    a.version == b.version && a.fetchedAt == b.fetchedAt && a.isForgotten == b.isForgotten
      && a.name.hasSameBytes(as: b.name) && a.picture.hasSameBytes(as: b.picture)
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(version) }
}

/// A reader of the directory of members.
package struct DirectoryReader {
  let view: StoreView

  /// True if nothing is stored of any member, which readers of messages notice at once.
  var isUnused: Bool { view.source.root(of: Schema.directory) == .none }

  /// Returns the record of a member, or nil without one.
  package func record(_ number: UInt32) throws(StoreError) -> ProfileRecord? {
    try view.record(KeyEncoding.key(number))
  }

  /// Returns the profile of a member, or nil if there is no such profile.
  func profile(of id: MemberID) throws(StoreError) -> MemberProfile? {
    guard let number = try view.number(of: id) else { return nil }
    return try record(number)?.profile(of: id)
  }

  /// Runs `body` on all profiles, in the order in which the store came to know the members, until
  /// it returns false.
  func forEachProfile(
    _ body: (MemberProfile) throws(StoreError) -> Bool
  ) throws(StoreError) {
    try view.forEachCell(with: KeyEncoding.key(0), sharing: 0, in: Schema.directory) {
      (key, value) throws(StoreError) in
      if MemberFields.member(key) != nil { return true }
      let (number, record) = try decoded(key, value)
      guard let profile = record.profile(of: try view.member(number)) else { return true }
      return try body(profile)
    }
  }

  /// Decodes a cell of the directory.
  package func decoded(
    _ key: Bytes, _ value: Bytes
  ) throws(StoreError) -> (number: UInt32, record: ProfileRecord) {
    guard key.count == KeyEncoding.numberByteCount, let number = key.bigEndianNumber(at: 0) else {
      throw view.corrupt(Schema.directory, "malformed key (\(key.count) bytes)")
    }
    return (number, try view.decoded(value, at: key))
  }
}

extension StoreView {
  package var directory: DirectoryReader { DirectoryReader(view: self) }
}
