import PageFile

/// The profiles of the members whom a list of conversations names, each looked up once.
struct ListedProfiles {
  private let view: StoreView
  private var known: [MemberID: MemberProfile?] = [:]

  init(_ view: StoreView) { self.view = view }

  /// Returns the stored profiles of members.
  ///
  /// Costs nothing in a store without any, else two lookups for each new member.
  mutating func profiles(of members: [MemberID]) throws(StoreError) -> [MemberProfile] {
    if view.directory.isUnused { return [] }
    var found: [MemberProfile] = []
    for member in members {
      let profile: MemberProfile?
      if let known = known[member] {
        profile = known
      } else {
        profile = try view.directory.profile(of: member)
        known[member] = .some(profile)
      }
      if let profile { found.append(profile) }
    }
    return found
  }
}
