extension StoreReading where Self: ~Copyable {
  /// Returns the profile of a member, or nil if none is stored or it was forgotten.
  ///
  /// Costs two lookups.
  ///
  /// - Throws: `storage`, `corruptRecord`.
  public func profile(of id: MemberID) throws(StoreError) -> MemberProfile? {
    try access.read { (view) throws(StoreError) in try view.directory.profile(of: id) }
  }

  /// Returns the stored profiles of these members, such as of those whom messages mention.
  ///
  ///     let slice = try chat.thread(room).tail(50)
  ///     let people = try chat.profiles(of: slice.lazy.flatMap(\.mentions))
  ///
  /// Profiles of authors come with their messages: ``Message/senderProfile``. Each member is looked
  /// up once, however often it is given; that costs two lookups.
  ///
  /// - Throws: `storage`, `corruptRecord`.
  public func profiles(
    of ids: some Sequence<MemberID>
  ) throws(StoreError) -> [MemberID: MemberProfile] {
    try access.read { (view) throws(StoreError) in
      var seen: Set<MemberID> = []
      var found: [MemberID: MemberProfile] = [:]
      for id in ids where seen.insert(id).inserted {
        found[id] = try view.directory.profile(of: id)
      }
      return found
    }
  }

  /// Returns all stored profiles, in the order in which the store came to know the members.
  ///
  /// Costs a walk along the profiles and a lookup for each.
  ///
  /// - Throws: `storage`, `corruptRecord`.
  public func profiles() throws(StoreError) -> [MemberProfile] {
    try access.read { (view) throws(StoreError) in
      var found: [MemberProfile] = []
      try view.directory.forEachProfile { (profile) throws(StoreError) in
        found.append(profile)
        return true
      }
      return found
    }
  }
}
