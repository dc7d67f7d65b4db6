import MsgStore

/// A conversation as a page for a person.
///
/// Messages are read and written one after the other, so a long thread takes no more memory than a
/// short one.
struct ConversationPage {
  let conversation: Conversation
  /// The member whose messages stand at the end of their lines.
  let localMember: MemberID?
  let range: MessageTimes
  let format: MomentFormat
  let writer: HTMLWriter

  /// The state of the list while it is written.
  private struct List {
    var isOpen = false
    var day: String?
    var sender: MemberID?
    var messageCount = 0
  }

  /// Writes the page.
  func write(_ snapshot: borrowing StoreSnapshot) throws {
    try writer.page(
      title: title, style: [PageStyle.base, Self.style].joined(separator: "\n")
    ) {
      writeHead()
      writer.open("main")
      var list = List()
      let thread = try snapshot.thread(conversation.id)
      try range.forEachMessage(of: thread) { message in
        beginDay(of: message, &list)
        try write(message, isFollowing: list.sender == message.sender, snapshot)
        list.sender = message.sender
        list.messageCount += 1
        try writer.check()
      } gap: { missing in
        openList(&list)
        list.sender = nil
        writer.element("li", ["class": "gap"], Self.sentence(missing))
      }
      closeList(&list)
      writer.close()
      writer.element("footer") {
        writer.element(
          "p", ["class": "note"],
          list.messageCount == 0
            ? "No messages." : "\(Figures.counted(list.messageCount, "message")).")
      }
    }
  }

  // MARK: Head

  private var title: String {
    if let title = conversation.title, !title.isEmpty { return title }
    let others = conversation.participants.filter { $0 != localMember }
    return others.isEmpty
      ? conversation.id.string : others.map(\.string).joined(separator: ", ")
  }

  private func writeHead() {
    writer.element("header") {
      writer.element("h1") { writer.isolated(title) }
      if !conversation.participants.isEmpty {
        writer.element("p", ["class": "note"]) {
          writer.text(
            Figures.counted(conversation.participantCount, "member") + ": ")
          writeNames(conversation.participants)
          let rest = conversation.participantCount - conversation.participants.count
          if rest > 0 { writer.text(" and \(Figures.grouped(rest)) more") }
        }
      }
      writer.element("p", ["class": "note"]) {
        writer.text("Conversation ")
        writer.isolated(conversation.id.string)
        writer.text(", \(Figures.counted(conversation.messageCount, "message")) in all.")
        if let since = range.since { writer.text(" From \(words(since)) on.") }
        if let until = range.until { writer.text(" Up to \(words(until)).") }
        writer.text(" Times are in \(format.zone).")
      }
    }
  }

  /// Writes names, each with a direction of its own.
  func writeNames(_ members: [MemberID]) {
    for (index, member) in members.enumerated() {
      if index > 0 { writer.text(", ") }
      writer.isolated(member.string)
    }
  }

  private func words(_ time: Timestamp) -> String {
    let moment = format.text(time)
    return "\(moment.day), \(moment.time)"
  }

  // MARK: List

  private func beginDay(of message: Message, _ list: inout List) {
    let time = message.serverTimestamp ?? message.localTime
    let day = time.map { format.text($0).day } ?? "Without a time"
    if day != list.day {
      closeList(&list)
      writer.element("h2", [:], day)
      list.day = day
      list.sender = nil
    }
    openList(&list)
  }

  private func openList(_ list: inout List) {
    guard !list.isOpen else { return }
    list.isOpen = true
    writer.open("ol")
  }

  private func closeList(_ list: inout List) {
    guard list.isOpen else { return }
    list.isOpen = false
    writer.close()
  }

  private static func sentence(_ missing: ClosedRange<Int64>) -> String {
    guard missing.lowerBound < missing.upperBound else {
      return "Message \(missing.lowerBound) is not in this store."
    }
    return "Messages \(missing.lowerBound) to \(missing.upperBound) are not in this store."
  }
}
