import PageFile

/// Reads of receipts.
///
/// All functions throw `storage` and `corruptRecord`.
extension StoreReading where Self: ~Copyable {
  /// Returns how far a message has come among its recipients, or nil if it is not here.
  ///
  /// The cost depends on the number of members.
  public func delivery(
    of id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Delivery? {
    try access.read { (view) throws(StoreError) in
      try view.delivery.delivery(of: id, in: conversation)
    }
  }

  /// Returns the delivery of the local member's acknowledged messages in a slice, by index; nil for
  /// all other messages.
  ///
  /// The slice must come from this snapshot or writer. The members' receipts are read once for the
  /// whole slice; the cost depends on the number of members, and on that of receipts by name.
  public func deliveries(of slice: MessageSlice) throws(StoreError) -> [Delivery?] {
    try access.read { (view) throws(StoreError) in try view.delivery.deliveries(of: slice) }
  }

  /// Returns true for each message of a slice that the local member has not read, by index.
  ///
  /// The slice must come from this snapshot or writer. Costs two lookups if nothing is unread in
  /// the conversation; else a walk along the messages of the slice.
  public func unread(in slice: MessageSlice) throws(StoreError) -> [Bool] {
    try access.read { (view) throws(StoreError) in try view.delivery.unread(in: slice) }
  }

  /// Returns the members who have received or read a message, in the order in which they came to
  /// this store.
  ///
  /// Members not known to take part are included; the sender is not. Of each member's marks the
  /// last eight are kept: a message below all of them shows the time of the lowest. The cost
  /// depends on the number of members.
  public func readers(
    of id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> [MemberReceipt] {
    try access.read { (view) throws(StoreError) in
      try view.delivery.readers(of: id, in: conversation)
    }
  }
}

extension StoreReading where Self: ~Copyable {
  /// Returns the number of unread messages that mention the local member, or nil without the
  /// conversation.
  ///
  /// Costs one lookup.
  package func unreadMentionCount(
    _ conversation: ConversationID
  ) throws(StoreError) -> Int? {
    try access.read { (view) throws(StoreError) in
      guard let number = try view.number(of: conversation)
      else { return nil }
      return try view.conversations.summary(number).mentionCount
    }
  }
}
