import MsgStore
import MsgStoreTools

/// One message of the page: its bubble with everything that belongs to it.
extension ConversationPage {
  /// The most scalars of a quoted text that are looked at, and the most columns that are shown.
  private static let quotedScalarCount = 400
  private static let quotedWidth = 100
  /// The most members that a reaction names.
  private static let namedMemberCount = 12
  /// The number of colours of names.
  private static let colourCount: UInt64 = 6

  /// Writes a message.
  ///
  /// - Parameter isFollowing: True if the message before is by the same member, so that the name
  ///   need not be seen again.
  func write(
    _ message: Message, isFollowing: Bool, _ snapshot: borrowing StoreSnapshot
  ) throws {
    let isOwn = message.sender == localMember
    let isForMe = localMember.map { message.mentions.contains($0) } ?? false
    let classes = [isOwn ? "own" : "other", isForMe ? "for-me" : ""].filter { !$0.isEmpty }
    writer.open(
      "li", ["class": classes.joined(separator: " "), "id": Self.anchor(of: message.id)])
    writer.element(
      "p",
      [
        "class": "name c\(Self.colour(of: message.sender))"
          + (isOwn || isFollowing ? " unseen" : "")
      ]
    ) {
      writer.isolated(message.sender.string)
    }
    if let target = message.replyTo { try writeQuote(of: target, in: message, snapshot) }
    if message.isRetracted {
      writer.element("p", ["class": "text retracted"], "This message was retracted.")
    } else if !message.text.isEmpty {
      writeText(message.text)
    }
    writeAttachments(message.attachments)
    if !message.mentions.isEmpty {
      writer.element("p", ["class": "beside"]) {
        writer.text("mentions ")
        writeNames(message.mentions)
      }
    }
    let isListed = !message.reactions.isEmpty || message.reactionCounts.isEmpty
    writeReactions(
      try isListed
        ? message.reactions : snapshot.reactions(to: message.id, in: message.conversation))
    writeFoot(of: message, isOwn: isOwn)
    if message.hasHistory, !message.isRetracted { try writeHistory(of: message, snapshot) }
    writer.close()
  }

  private func writeText(_ text: String) {
    writer.element("p", ["class": "text", "dir": "auto"]) {
      for part in LinkFinder.parts(of: text) {
        switch part {
        case .text(let text): writer.text(text)
        case .link(let address):
          writer.element("a", ["href": address, "rel": "noopener noreferrer"], address)
        }
      }
    }
  }

  // MARK: Quote

  private func writeQuote(
    of id: MessageID, in message: Message, _ snapshot: borrowing StoreSnapshot
  ) throws {
    let quoted = try snapshot.message(id, in: message.conversation)
    writer.element("blockquote") {
      guard let quoted else {
        return writer.element("span", [:], "Answers a message that is not in this store.")
      }
      // Only a message on this page can be gone to.
      let isLinked = range.contains(quoted)
      if isLinked { writer.open("a", ["href": "#\(Self.anchor(of: quoted.id))"]) }
      writer.element("b") { writer.isolated(quoted.sender.string) }
      writer.text(" ")
      writer.isolated(Self.beginning(of: quoted))
      if isLinked { writer.close() }
    }
  }

  private static func beginning(of message: Message) -> String {
    if message.isRetracted { return "(retracted)" }
    if message.text.isEmpty {
      return message.attachments.first.map { "(\($0.fileName ?? $0.kind.name))" } ?? ""
    }
    let head = String(
      String.UnicodeScalarView(message.text.unicodeScalars.prefix(quotedScalarCount)))
    let isCut = head.utf8.count < message.text.utf8.count
    return (head + (isCut ? "…" : "")).shortened(to: quotedWidth)
  }

  // MARK: Beside the text

  private func writeAttachments(_ attachments: [MessageAttachment]) {
    guard !attachments.isEmpty else { return }
    writer.element("ul", ["class": "files", "aria-label": "Attachments"]) {
      for attachment in attachments {
        writer.element("li") {
          writer.element("b", [:], attachment.kind.name)
          if let name = attachment.fileName {
            writer.text(" ")
            writer.isolated(name)
          }
          let facts = Self.facts(of: attachment)
          if !facts.isEmpty { writer.element("small", [:], " \(facts)") }
        }
      }
    }
  }

  private static func facts(of attachment: MessageAttachment) -> String {
    var facts: [String] = []
    if let count = attachment.byteCount { facts.append(Figures.bytes(Int(clamping: count))) }
    if let width = attachment.width, let height = attachment.height {
      facts.append("\(width) × \(height)")
    }
    if let duration = attachment.durationMicroseconds {
      facts.append("\(Figures.tenths(Double(duration) / 1_000_000)) s")
    }
    return facts.joined(separator: ", ")
  }

  private func writeReactions(_ reactions: [Reaction]) {
    guard !reactions.isEmpty else { return }
    var order: [[UInt8]] = []
    var groups: [[UInt8]: (emoji: String, members: [MemberID])] = [:]
    for reaction in reactions {
      // Emoji are compared as bytes, as the store does.
      let bytes = Array(reaction.emoji.utf8)
      if groups[bytes] == nil { order.append(bytes) }
      groups[bytes, default: (reaction.emoji, [])].members.append(reaction.member)
    }
    writer.element("ul", ["class": "reactions", "aria-label": "Reactions"]) {
      for group in order.compactMap({ groups[$0] }) {
        writer.element("li") {
          writer.isolated(group.emoji)
          writer.text(" ")
          writeNames(Array(group.members.prefix(Self.namedMemberCount)))
          let rest = group.members.count - Self.namedMemberCount
          if rest > 0 { writer.text(" and \(Figures.grouped(rest)) more") }
        }
      }
    }
  }

  // MARK: Foot

  private func writeFoot(of message: Message, isOwn: Bool) {
    writer.element("p", ["class": "foot"]) {
      let time = message.serverTimestamp ?? message.localTime
      if let time { writeTime(time, format.text(time).time) }
      if let edited = message.editedAt, !message.isRetracted {
        writer.text(" · edited ")
        writeTime(edited, near(edited, time))
      }
      if let retracted = message.retractedAt {
        writer.text(" · retracted ")
        writeTime(retracted, near(retracted, time))
      }
      if isOwn || !message.status.isServerKnowledge {
        writer.text(" · \(message.status.name)")
      }
      if let failure = message.failure { writer.text(" (\(MessageText.text(failure)))") }
    }
  }

  /// Returns a time of day, with its day if that differs from the day of the message.
  private func near(_ time: Timestamp, _ other: Timestamp?) -> String {
    let moment = format.text(time)
    let isSameDay = other.map { format.text($0).day == moment.day } ?? false
    return isSameDay ? moment.time : "\(moment.day), \(moment.time)"
  }

  private func writeTime(_ time: Timestamp, _ text: String) {
    writer.element("time", ["datetime": time.description], text)
  }

  private func writeHistory(of message: Message, _ snapshot: borrowing StoreSnapshot) throws {
    let versions = try snapshot.history(of: message.id, in: message.conversation)
    guard !versions.isEmpty else { return }
    writer.element("details") {
      writer.element(
        "summary", [:], versions.count == 1 ? "Other version" : "\(versions.count) other versions")
      for version in versions {
        writeText(version.text)
        if let time = version.time {
          writer.element("p", ["class": "foot"]) {
            writeTime(time, near(time, message.serverTimestamp ?? message.localTime))
          }
        }
      }
    }
  }

  // MARK: Names

  /// Returns the name of a message within the page: letters, digits, and hyphens stand for
  /// themselves, other bytes for their numbers.
  static func anchor(of id: MessageID) -> String {
    var anchor = "m-"
    for byte in id.string.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
        anchor.unicodeScalars.append(Unicode.Scalar(byte))
      default: anchor += "_" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
    }
    return anchor
  }

  /// Returns the colour of a name, the same on every page (FNV-1a).
  private static func colour(of member: MemberID) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in member.string.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    return (hash >> 32) % colourCount
  }
}
