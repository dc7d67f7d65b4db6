package import MsgStore
import PageFile

/// The profile of a member, or that it was forgotten, and the client's own fields of the member.
package struct ExportedProfile: Sendable, Equatable {
  package var member: MemberID = ""
  package var name: String?
  package var picture: String?
  package var version: Int64 = 0
  package var fetchedAt: Timestamp?
  package var isForgotten = false
  /// True if the member has own fields and no profile.
  package var hasNoProfile = false
  package var own = OwnFields()

  package init() {}

  package init(_ own: OwnFields, of id: MemberID) {
    member = id
    hasNoProfile = true
    self.own = own
  }

  package init(_ record: ProfileRecord, of id: MemberID) {
    member = id
    name = record.name
    picture = record.picture
    version = record.version
    fetchedAt = Timestamp(known: record.fetchedAt)
    isForgotten = record.isForgotten
  }

  /// The record; a forgotten profile has neither name nor picture.
  package var record: ProfileRecord {
    if isForgotten {
      return ProfileRecord(forgottenAt: version, fetchedAt: fetchedAt?.microseconds)
    }
    return ProfileRecord(
      MemberProfile(
        of: member, name: name, picture: picture, version: version, fetchedAt: fetchedAt))
  }
}

extension StoreSnapshot {
  /// Calls `body` with all profiles and own fields, sorted by the bytes of the ids.
  ///
  /// So the order does not depend on the order in which the store came to know the members. Costs a
  /// lookup for each member, unless there are no profiles.
  package func forEachExportedProfile(_ body: (ExportedProfile) throws -> Void) throws {
    let view = view
    let isEmpty = try within { (view) throws(StoreError) in
      view.source.root(of: Schema.directory) == .none
    }
    if isEmpty { return }
    let prefix = NameKey.prefix(.member)
    try view.exports.forEach(with: prefix, in: Schema.names) {
      (name, value) throws(StoreError) in
      guard name.isValidUTF8, value.count == KeyEncoding.numberByteCount else {
        throw view.corrupt(Schema.names, "malformed entry of a member")
      }
      let id = MemberID(name.repairedText())
      let number = value.uint32(at: 0)
      let own = try view.directory.ownFields(number)
      guard let record = try view.directory.record(number) else {
        return own.isEmpty ? nil : ExportedProfile(own, of: id)
      }
      var exported = ExportedProfile(record, of: id)
      exported.own = own
      return exported
    } _: {
      try body($0)
    }
  }
}
