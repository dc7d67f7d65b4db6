import PageFile

/// Keeps the recipients that own messages with receipts by name wait for, so that a screen of such
/// messages needs no walk along their receipts.
///
/// See docs/message-format.md, X-8 and V-10.
///
///  1. The member who is waited for has no receipt by name that says what is waited for. Nothing
///     else follows from the entry: readers look if the member still takes part.
///  2. "All have it" holds from then on for everybody who was a recipient: receipts do not go back.
///     So it counts until somebody comes who has to have messages that were here already.
extension Receipts {
  /// Updates the members that a message waits for, after a receipt by name of some member.
  ///
  /// Returns true if they have changed.
  func updateAwaited(
    _ traits: inout MessageTraits, of record: MessageRecord, at position: MessagePosition,
    told member: UInt32, in conversation: OpenConversation
  ) throws(StoreError) -> Bool {
    guard !position.place.isPending, record.sender == localMember,
      record.status == .sent || record.status == .delivered
    else { return false }
    let name = traits.names.first ?? position.id
    var search = AwaitedSearch(try flushed(), conversation.number)
    var new = traits.awaited ?? Awaited(read: 0, delivered: 0, comings: 0)
    let own = try transaction.receipts.own(conversation)
    for kind in ReceiptKind.allCases {
      let known = new[kind]
      if case .some = traits.awaited {
        if known == 0, new.comings == own.comings { continue }
        if known != 0, known != member,
          try search.isMissing(known, kind, at: position, from: record.sender)
        {
          continue
        }
        if known == member, StoreDefect.awaitedKept.isPlanted { continue }
      }
      guard
        let missing = try search.first(
          kind, missing: name, at: position, from: record.sender, beginningWith: known)
      else {
        // A message without recipients waits for nobody, and nobody has it.
        let isChanged = traits.awaited != nil
        traits.awaited = nil
        return isChanged
      }
      new[kind] = missing
    }
    if new.isAll { new.comings = try comings(conversation) }
    guard new != traits.awaited else { return false }
    traits.awaited = new
    return true
  }

  /// Returns the ordinal of comings, and begins it with the first message that all have.
  private func comings(_ conversation: OpenConversation) throws(StoreError) -> UInt64 {
    var own = try transaction.receipts.own(conversation)
    if own.comings == 0 {
      own.comings = 1
      keepOwn(own, conversation)
    }
    return own.comings
  }
}

extension ConversationReceipts {
  /// Notes that messages which all had may have recipients now who do not have them.
  mutating func noteComing() {
    if comings > 0, !StoreDefect.comingUnnoted.isPlanted { comings += 1 }
  }
}
