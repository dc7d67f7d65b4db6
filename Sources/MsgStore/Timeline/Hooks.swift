import PageFile

extension WriteState {
  func reveal(_ conversation: OpenConversation) throws(StoreError) {}
  func checkMembership(_ conversation: OpenConversation) throws(StoreError) {}
}
