import PageFile

/// The profiles of the members whom a list of conversations names, each looked up once.
struct ListedProfiles {
  private let view: StoreView
  private let isUnused: Bool
  private var known: [MemberID: MemberProfile?] = [:]

  init(_ view: StoreView) {
    self.view = view
    isUnused = view.directory.isUnused
  }

  /// Returns the stored profiles that come with a conversation of these fields.
  ///
  /// Costs nothing in a store without any, else two lookups for each new member.
  mutating func profiles(
    title: String?, _ participants: [MemberID], sender: MemberID?
  ) throws(StoreError) -> [MemberProfile] {
    if isUnused { return [] }
    var found: [MemberProfile] = []
    let members = Conversation.profiledMembers(title: title, participants, sender: sender)
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
