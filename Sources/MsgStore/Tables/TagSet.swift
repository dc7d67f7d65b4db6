package import PageFile

/// The tags of a message, each a bit.
///
/// See docs/message-format.md, X-10, F-17, and F-21.
package struct TagSet: OptionSet, Equatable, Sendable {
  package let rawValue: UInt32
  package init(rawValue: UInt32) { self.rawValue = rawValue }

  package static let image = TagSet(rawValue: 1 << 0)
  package static let video = TagSet(rawValue: 1 << 1)
  package static let audio = TagSet(rawValue: 1 << 2)
  package static let file = TagSet(rawValue: 1 << 3)
  package static let link = TagSet(rawValue: 1 << 4)
  package static let mention = TagSet(rawValue: 1 << 5)
  package static let pinned = TagSet(rawValue: 1 << 6)
  package static let starred = TagSet(rawValue: 1 << 7)

  /// The tags that follow from the attachments, which the record of a message repeats.
  package static let attachments: TagSet = [.image, .video, .audio, .file]
  /// The tags that somebody can set.
  package static let settable = TagSet(rawValue: 0xFFFF_0000).union([.link, .pinned, .starred])
  /// The tags of the client's own.
  package static let own = TagSet(rawValue: 0xFFFF_0000)
  /// The tags that are also listed across conversations.
  package static let everywhere: TagSet = [.pinned, .starred]
  /// All tags.
  package static let all = settable.union(attachments).union(.mention)

  /// The set of a tag with a number.
  package init(number: UInt8) {
    self.init(rawValue: number < 32 ? 1 << UInt32(number) : 0)
  }

  /// The tag of attachments of a kind.
  package init(_ kind: AttachmentKind) {
    switch kind {
    case .image: self = .image
    case .video: self = .video
    case .audio: self = .audio
    case .document, .other: self = .file
    }
  }

  /// Reads the tags of a record.
  ///
  /// Returns nil if they are not a set of tags that a record with these marks may have.
  init?(_ reader: inout ByteReader, _ marks: MessageTraits.Bits) {
    guard let bits = reader.varint(), let rawValue = UInt32(exactly: bits) else { return nil }
    self.init(rawValue: rawValue)
    guard !isEmpty, isSubset(of: Self.settable.union(.attachments)),
      marks.contains(.attachments) || isDisjoint(with: .attachments),
      marks.contains(.tagged) || isDisjoint(with: .settable)
    else { return nil }
  }

  /// Runs `body` on the number of each tag, ascending.
  package func forEach(_ body: (UInt8) throws(StoreError) -> Void) throws(StoreError) {
    var rest = rawValue
    while rest != 0 {
      try body(UInt8(truncatingIfNeeded: rest.trailingZeroBitCount))
      rest &= rest - 1
    }
  }
}

extension StoredMessage {
  /// The tags under which the message is found.
  package func shownTags(for localMember: UInt32?) -> TagSet {
    if traits.isRetracted, !StoreDefect.hiddenTagsListed.isPlanted { return [] }
    if traits.isLetGo { return [] }
    var tags = traits.tags
    if let localMember, traits.mentions.contains(localMember) { tags.insert(.mention) }
    if text.hasLink { tags.insert(.link) }
    return tags
  }
}

extension String {
  /// True if the text has `http://` or `https://` in it, in letters of any case.
  var hasLink: Bool {
    // Unsafe: the bytes are read while the text is alive.
    let found = unsafe utf8.withContiguousStorageIfAvailable { storage in
      unsafe Bytes(UnsafeRawBufferPointer(storage)).hasLink
    }
    return found ?? Bytes.with(Array(utf8)) { $0.hasLink }
  }
}

extension Bytes {
  /// True if the text has `http://` or `https://` in it, in letters of any case.
  package var hasLink: Bool {
    var start = 0
    while let colon = firstOffset(of: UInt8(ascii: ":"), from: start) {
      if isLink(at: colon) { return true }
      start = colon + 1
    }
    return false
  }

  private func isLink(at colon: Int) -> Bool {
    guard count - colon >= 3, self[colon + 1] == UInt8(ascii: "/"),
      self[colon + 2] == UInt8(ascii: "/")
    else { return false }
    let end = colon > 0 && self[colon - 1] | 0x20 == UInt8(ascii: "s") ? colon - 1 : colon
    // The letters are those of "http", whose bytes differ from the capital ones in one bit.
    return end >= 4 && uint32(at: end - 4) | 0x2020_2020 == 0x7074_7468
  }
}
