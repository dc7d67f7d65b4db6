import PageFile

/// The versions of a message's text: the shown one in its record, the others among the facts.
///
/// See docs/message-format.md, F-4 and G-4.
extension MessageFacts {
  /// Merges a received version.
  ///
  /// The first original from the server replaces the one composed here; of several originals from
  /// the server the greatest stays.
  @inline(never)
  func mergeReceivedVersion(
    _ given: TextVersion, isComposed: Bool = false, into message: inout StoredMessage,
    named id: MessageID, in conversation: UInt32, isAlone: Bool = false
  ) throws(StoreError) -> Bool {
    let isReplacing =
      !isComposed && given.editTime == nil && message.flags.contains(.composed)
    if isReplacing { message.flags.remove(.composed) }
    return try mergeVersion(
      given, replacingOriginal: isReplacing, into: &message, named: id, in: conversation,
      isAlone: isAlone)
  }

  /// Merges a version into a message.
  ///
  /// - Parameters:
  ///   - replacingOriginal: True if an original replaces the stored one, even if that is greater.
  ///   - isAlone: True if no version lies beside the message's record.
  /// - Returns: True if a fact beside the record changed.
  @discardableResult
  @inline(never)
  package func mergeVersion(
    _ given: TextVersion, replacingOriginal: Bool = false, into message: inout StoredMessage,
    named id: MessageID, in conversation: UInt32, isAlone: Bool = false
  ) throws(StoreError) -> Bool {
    let shown = message.version
    if given.isSame(as: shown) {
      message.version = replacingOriginal ? given : shown.union(given)
    } else if given.editTime == nil && shown.editTime == nil {
      if replacingOriginal || shown.precedes(given) {
        // The other text is kept nowhere; nor may it stay in a segment.
        view.source.isErasing = true
        message.version = given
      }
    } else if shown.precedes(given) || StoreDefect.olderEditWins.isPlanted {
      message.version = given
      message.traits.marks.insert(.versions)
      if StoreDefect.historyLost.isPlanted { return false }
      return try putVersion(shown, of: id, in: conversation, isAlone: isAlone)
    } else {
      message.traits.marks.insert(.versions)
      return try putVersion(given, of: id, in: conversation, replacing: replacingOriginal)
    }
    return false
  }

  /// Keeps a version among the facts.
  ///
  /// Returns true if anything changed.
  @discardableResult
  @inline(never)
  package func putVersion(
    _ version: TextVersion, of id: MessageID, in conversation: UInt32, replacing: Bool = false,
    isAlone: Bool = false
  ) throws(StoreError) -> Bool {
    let key = VersionRecord.key(conversation, id, version)
    var version = version
    if !isAlone, let old = try self.version(key.bytes, of: id) {
      if old.isSame(as: version) {
        version = old.union(version)
        if version == old { return false }
      } else if !replacing && !old.precedes(version) {
        return false
      }
    }
    transaction.hasAdded = true
    var value = ByteBuffer(capacity: version.text.utf8.count + 16)
    VersionRecord.append(version, to: &value)
    try transaction.insert(key.bytes, value.bytes, in: Schema.facts)
    return true
  }

  private func version(_ key: Bytes, of id: MessageID) throws(StoreError) -> TextVersion? {
    var value = ByteBuffer()
    guard try view.value(of: key, in: Schema.facts, appendTo: &value) else { return nil }
    guard let parts = FactKey.parts(key),
      let version = VersionRecord.version(parts.rest, value.bytes)
    else { throw view.corrupt(Schema.facts, "message \"\(id)\": malformed version") }
    return version
  }

  /// Merges the versions that waited for a message into it.
  func absorbVersions(
    of id: MessageID, in conversation: UInt32, into message: inout StoredMessage
  ) throws(StoreError) {
    for version in try view.facts.versions(of: id, in: conversation) {
      guard message.version.precedes(version) || version.isSame(as: message.version) else {
        continue
      }
      try transaction.remove(VersionRecord.key(conversation, id, version), in: Schema.facts)
      try mergeVersion(version, into: &message, named: id, in: conversation)
    }
  }

  /// Removes a version, as if it had never existed.
  ///
  /// Returns false if there is no such version, or no other version to show instead.
  func removeVersion(
    at time: Int64, from message: inout StoredMessage, named id: MessageID,
    in conversation: UInt32
  ) throws(StoreError) -> Bool {
    view.source.isErasing = true
    let others = try view.facts.versions(of: id, in: conversation)
    if message.traits.editTime == time {
      guard var best = others.first else { return false }
      for other in others where best.precedes(other) { best = other }
      try transaction.remove(VersionRecord.key(conversation, id, best), in: Schema.facts)
      message.version = best
    } else {
      guard let version = others.first(where: { $0.editTime == time }) else { return false }
      try transaction.remove(VersionRecord.key(conversation, id, version), in: Schema.facts)
    }
    if others.count == 1 { message.traits.marks.remove(.versions) }
    return true
  }
}
