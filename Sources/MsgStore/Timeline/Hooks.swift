import PageFile

extension WriteState {
  func checkMembership(_ conversation: OpenConversation) throws(StoreError) {}
}
