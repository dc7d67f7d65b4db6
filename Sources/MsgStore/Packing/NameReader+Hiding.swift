extension NameReader {
  /// Returns the position of a message, or nil if the message is not here or hidden from this view.
  @inline(never)
  package func position(of id: MessageID, in conversation: UInt32) throws(StoreError)
    -> MessagePosition?
  {
    guard case .here(let position)? = try entry(of: id, in: conversation) else { return nil }
    if view.hiding.time != nil, try isHidden(position, in: conversation) { return nil }
    return position
  }

  /// Returns true if the message at a position is hidden, which only its record says.
  @inline(never)
  private func isHidden(
    _ position: MessagePosition, in conversation: UInt32
  ) throws(StoreError) -> Bool {
    try !view.messages.hasMessage(at: position, in: conversation)
  }
}
