import PageFile

extension WriteState {
  func noteLate(_ position: Position, in conversation: OpenConversation) throws(StoreError) {}
  func applyWaitingMarks(
    of id: MessageID, at position: Position, in conversation: OpenConversation
  ) throws(StoreError) {}
  func moveMarks(
    from old: Position, to new: Position, in conversation: OpenConversation
  ) throws(StoreError) {}
  func moveReceipts(
    of id: MessageID, to other: MessageID, in conversation: UInt32
  ) throws(StoreError) {}
  func reveal(_ conversation: OpenConversation) throws(StoreError) {}
  func checkMembership(_ conversation: OpenConversation) throws(StoreError) {}
}
