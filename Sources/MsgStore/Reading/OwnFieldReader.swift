/// A reader of the client's own fields with whole values.
struct OwnFieldReader {
  let view: StoreView

  /// Returns all that is known of the fields of an owner, with whole values.
  func fields(of owner: FieldOwner) throws(StoreError) -> OwnFields {
    switch owner {
    case .message(let id, let conversation):
      guard let number = try view.number(of: conversation),
        let (_, message, own) = try view.messages.found(id, in: number),
        !message.traits.isRetracted
      else { return OwnFields() }
      return try view.facts.whole(message.traits.ownFields, of: own, in: number)
    case .conversation(let id):
      guard let number = try view.number(of: id) else { return OwnFields() }
      return try view.conversations.ownFields(number)
    case .member(let id):
      guard let number = try view.number(of: id) else {
        return OwnFields()
      }
      return try view.directory.ownFields(number)
    }
  }
}

extension StoreView {
  var ownFields: OwnFieldReader { OwnFieldReader(view: self) }
}
