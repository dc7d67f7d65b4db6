/// A member as other people see them: a name and a picture, as the server last gave them.
///
/// Profiles are kept in the same commits as messages, and nothing is fetched by the store. Of two
/// profiles of one member the one of the greater version counts; at equal versions, the one fetched
/// later; at equal times, the one with the greater bytes. So the order in which profiles are
/// received makes no difference. A server without versions leaves them at zero.
public struct MemberProfile: Sendable, Hashable, Identifiable {
  /// The most bytes of UTF-8 in a name.
  public static let maximumNameByteCount = 1024
  /// The most bytes of UTF-8 in the reference of a picture.
  public static let maximumPictureByteCount = 4096

  /// The member.
  public let id: MemberID
  /// The name to show, or nil if the server gave none.
  public var name: String?
  /// The reference of the picture, such as a URL, which the store does not interpret; nil without a
  /// picture.
  public var picture: String?
  /// The server's version of the profile, 0 or more.
  public var version: Int64
  /// The time at which the profile was fetched, or nil if that is unknown.
  public var fetchedAt: Timestamp?

  /// Creates a profile.
  ///
  /// - Parameters:
  ///   - id: The member.
  ///   - name: The name to show, at most `maximumNameByteCount` bytes of UTF-8.
  ///   - picture: The reference of the picture, at most `maximumPictureByteCount` bytes of UTF-8.
  ///   - version: The server's version of the profile; a negative one counts as 0.
  ///   - fetchedAt: The time at which the profile was fetched.
  public init(
    of id: MemberID, name: String? = nil, picture: String? = nil, version: Int64 = 0,
    fetchedAt: Timestamp? = nil
  ) {
    self.id = id
    self.name = name
    self.picture = picture
    self.version = version
    self.fetchedAt = fetchedAt
  }

  /// Compares the bytes of the texts.
  public static func == (a: MemberProfile, b: MemberProfile) -> Bool {
    a.id == b.id && a.version == b.version && a.fetchedAt == b.fetchedAt
      && a.name.hasSameBytes(as: b.name) && a.picture.hasSameBytes(as: b.picture)
  }

  /// Hashes the member and the version.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(id)
    hasher.combine(version)
  }
}

extension String? {
  /// Returns true if both are nil or have the same bytes.
  func hasSameBytes(as other: String?) -> Bool {
    guard let self, let other else { return self == nil && other == nil }
    return self.hasSameBytes(as: other)
  }

  /// Returns true if this is less than another text by its bytes; nil is less than any text.
  func precedesByBytes(_ other: String?) -> Bool {
    guard let other else { return false }
    return self?.precedesByBytes(other) ?? true
  }
}
