import Foundation
import MsgStore
import Testing
import msgdump

/// `msgdump html` from the outside, and its page.
struct HTMLCommandTests {
  private let directory: TemporaryDirectory
  /// 2 March 2026, 9:30.
  private static let begin: Int64 = 1_772_443_800_000_000
  private static let minute: Int64 = 60_000_000

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func at(_ minutes: Int64) -> Timestamp { time(Self.begin + minutes * Self.minute) }

  private func sent(
    _ id: MessageID, _ minutes: Int64, _ sequence: Int64? = nil, from sender: MemberID = "you",
    text: String = "hello", replyTo: MessageID? = nil, mentions: [MemberID] = []
  ) -> Message {
    Message(
      id: id, in: "room", from: sender, text: text, serverTimestamp: at(minutes),
      sequence: sequence, replyTo: replyTo, mentions: mentions)
  }

  private func make(_ body: (borrowing StoreWriter) throws -> Void) throws {
    let store = try MessageStore(
      path: directory.path("chat"), options: StoreOptions(localMember: "me").makingConversations)
    try store.write { chat in
      _ = try chat.createGroup("room", participants: ["me", "you", "ann"], title: "The <room>")
      try body(chat)
    }
    try store.close()
  }

  private func page(_ options: String...) throws -> HTMLDocument {
    let run = try ToolRun(
      ["html", "chat", "-", "--conversation", "room"] + options, in: directory.url)
    try #require(run.status == 0 && run.errorText == "", "\(run.errorText)")
    let page = try HTMLDocument(run.output)
    try page.expectSelfContained()
    try page.expectAccessible()
    return page
  }

  /// The messages of a page, without their feet.
  private func bubbles(_ page: HTMLDocument) -> [HTMLDocument.Element] {
    page.elements("li").filter { $0.attributes["id"]?.hasPrefix("m-") ?? false }
  }

  @Test func aConversationIsReadFromTopToBottom() throws {
    try make { chat in
      try chat.insert(sent("1", 0, 1, text: "first"))
      try chat.insert(sent("2", 1, 2, from: "me", text: "second"))
      try chat.insert(sent("3", 24 * 60, 3, text: "third"))
    }
    let page = try page()
    #expect(page.texts("h1") == ["The <room>"] && page.texts("title") == ["The <room>"])
    #expect(page.texts("h2") == ["Monday, 2 March 2026", "Tuesday, 3 March 2026"])
    #expect(page.texts("p", of: "text") == ["first", "second", "third"])
    #expect(bubbles(page).map { $0.attributes["class"] } == ["other", "own", "other"])
    #expect(page.texts("p", of: "name") == ["you", "me", "you"])
    #expect(
      page.texts("p", of: "foot").map { $0.prefix(5) } == ["09:30", "09:31", "09:30"])
    #expect(page.texts("p", of: "foot")[1].hasSuffix(" · sent"))
    #expect(page.texts("p", of: "note").contains { $0.hasSuffix("Times are in UTC.") })
    #expect(page.texts("p", of: "note").contains("3 members: me, you, ann"))
    #expect(page.texts("p", of: "note").last == "3 messages.")
  }

  @Test func textCannotBeMarkup() throws {
    let texts = [
      "<script>alert(1)</script>", "</p></li><img src=x onerror=\"alert('1')\">", "&lt;b&gt; &amp;",
      "<\u{338}script>", "a\u{202e}txt.exe\u{0}\u{1b}[2J", "-->]]><!--", "javascript:alert(1)",
    ]
    let id: MessageID = "\"><script>'\u{202e}"
    try make { chat in
      for (index, text) in texts.enumerated() {
        try chat.insert(
          sent(MessageID("\(index)"), Int64(index), from: "<you>\u{202e}\"'", text: text))
      }
      var message = sent(id, 100, text: "file", mentions: ["<i>"])
      message.attachments = [
        MessageAttachment(
          id: "\"a", kind: .image, fileName: "<svg onload=x>\u{202e}gpj.exe", byteCount: .max)
      ]
      try chat.insert(message)
      try chat.receive(Reaction("<b>", from: "</ul>", at: at(101)), to: id, in: "room")
      try chat.insert(sent("last", 102, replyTo: id))
    }
    let run = try directory.run("html", "chat", "-", "--conversation", "room")
    #expect(!run.text.contains("<script") && !run.text.contains("\u{202e}"))
    let page = try page()
    let shown = page.texts("p", of: "text")
    #expect(shown.first == texts.first && shown[1] == texts[1] && shown[2] == texts[2])
    #expect(shown[4] == "aU+202Etxt.exeU+0000U+001B[2J")
    #expect(page.texts("bdi").contains("<svg onload=x>U+202Egpj.exe"))
    #expect(page.texts("ul", of: "reactions") == ["<b> </ul>\n"])
    #expect(page.elements("a").allSatisfy { $0.attributes["href"]?.hasPrefix("#m-") ?? false })
  }

  @Test func linksLeadOut() throws {
    try make { chat in
      try chat.insert(sent("1", 0, text: "See https://example.com/?a=1&b=<2>. Bye"))
    }
    let page = try page()
    let links = page.elements("a")
    #expect(links.map(\.text) == ["https://example.com/?a=1&b="])
    #expect(links.first?.attributes["href"] == "https://example.com/?a=1&b=")
    #expect(page.texts("p", of: "text") == ["See https://example.com/?a=1&b=<2>. Bye"])
  }

  @Test func repliesQuoteTheirMessage() throws {
    try make { chat in
      try chat.insert(sent("a 1", 0, 1, text: String(repeating: "long text ", count: 40)))
      try chat.insert(sent("b", 1, 2, text: "an answer", replyTo: "a 1"))
      try chat.insert(sent("c", 2, 3, text: "another", replyTo: "gone"))
    }
    let page = try page()
    let quotes = page.texts("blockquote")
    #expect(quotes.count == 2 && quotes[0].hasPrefix("you long text") && quotes[0].contains("…"))
    #expect(quotes[0].count < 130 && quotes[1].contains("not in this store"))
    #expect(page.elements("a").map { $0.attributes["href"] } == ["#m-a_201"])
    // The quoted message is not in the range, so nothing leads to it.
    let part = try self.page("--since", "2026-03-02T09:31")
    #expect(part.elements("a").isEmpty && part.texts("blockquote").count == 2)
  }

  @Test func editsAndRetractionsAreMarked() throws {
    try make { chat in
      try chat.insert(sent("1", 0, 1, text: "original"))
      try chat.receiveEdit(of: "1", in: "room", text: "changed", at: at(7))
      try chat.insert(sent("2", 1, 2, text: "never said"))
      try chat.receiveRetraction(of: "2", in: "room", at: at(60 * 24))
    }
    let page = try page()
    #expect(
      page.texts("p", of: "text") == ["changed", "original", "This message was retracted."])
    #expect(page.texts("details").count == 1)
    let feet = page.texts("p", of: "foot")
    #expect(feet.first == "09:30 · edited 09:37\n" || feet.first == "09:30 · edited 09:37")
    #expect(feet.last?.contains("retracted Tuesday, 3 March 2026, 09:30") ?? false)
    #expect(!bubbles(page).contains { $0.text.contains("never said") })
  }

  @Test func reactionsMentionsAndFilesAreShown() throws {
    try make { chat in
      var message = sent("1", 0, 1, mentions: ["me", "ann"])
      message.attachments = [
        MessageAttachment(
          id: "a", kind: .image, fileName: "seat.jpg", byteCount: 184_320,
          durationMicroseconds: 2_500_000, width: 1600, height: 1200)
      ]
      try chat.insert(message)
      for member: MemberID in ["ann", "me"] {
        try chat.receive(Reaction("❤️", from: member, at: at(1)), to: "1", in: "room")
      }
      try chat.receive(Reaction("😂", from: "you", at: at(1)), to: "1", in: "room")
    }
    let page = try page()
    #expect(page.texts("ul", of: "files") == ["image seat.jpg 184 kB, 1600 × 1200, 2.5 s\n"])
    #expect(page.texts("p", of: "beside") == ["mentions ann, me"])
    #expect(page.elements("li", of: "for-me").count == 1)
    #expect(page.texts("ul", of: "reactions") == ["❤️ ann, me\n😂 you\n"])
  }

  @Test func gapsAreLines() throws {
    try make { chat in
      for sequence: Int64 in [1, 2, 6, 8] {
        try chat.insert(sent(MessageID("\(sequence)"), sequence, sequence))
      }
    }
    let page = try page()
    #expect(
      page.texts("li", of: "gap") == [
        "Messages 3 to 5 are not in this store.", "Message 7 is not in this store.",
      ])
    let order = page.elements("li").map { $0.attributes["id"] ?? "gap" }
    #expect(order == ["m-1", "m-2", "gap", "m-6", "gap", "m-8"])
  }

  @Test func aRangeHasItsMessagesOnly() throws {
    try make { chat in
      for minute: Int64 in 0..<700 {
        try chat.insert(sent(MessageID("\(minute)"), minute, minute, text: "\(minute)"))
      }
      try chat.insert(
        Message(id: "p", in: "room", from: "me", text: "waits", localTime: at(5)))
    }
    func texts(_ options: String...) throws -> [String] {
      let run = try ToolRun(
        ["html", "chat", "-", "--conversation", "room"] + options, in: directory.url)
      return try HTMLDocument(run.output).texts("p", of: "text")
    }
    #expect(try texts().count == 701)
    #expect(try texts().last == "waits")
    #expect(
      try texts("--since", "2026-03-02T09:31", "--until", "2026-03-02T09:34") == ["1", "2", "3"])
    #expect(
      try texts("--since", "2026-03-02T09:35", "--until", "2026-03-02T09:36") == ["5", "waits"])
    #expect(try texts("--until", "2026-03-02T09:31") == ["0"])
    #expect(try texts("--since", "2026-03-02T21:09") == ["699"])
    #expect(try texts("--since", "2026-03-02T12:00", "--until", "2026-03-03").count == 550)
    #expect(try texts("--since", "2030-01-01") == [])
  }

  @Test func otherZonesCanBeShown() {
    #expect(MomentText.utc(time(0)) == MomentText(day: "Thursday, 1 January 1970", time: "00:00"))
    #expect(
      MomentText.utc(time(-1)) == MomentText(day: "Wednesday, 31 December 1969", time: "23:59"))
    #expect(
      MomentText.utc(at(0)) == MomentText(day: "Monday, 2 March 2026", time: "09:30"))
    for extreme in [Int64.min, .max] { #expect(!MomentText.utc(time(extreme)).day.isEmpty) }
    let format = MomentFormat(zone: "CET") { MomentText.utc(time($0.microseconds + 3_600_000_000)) }
    #expect(format.zone == "CET")
  }

  @Test func theSampleHasPagesWithoutFault() throws {
    let sample = try directory.run("sample", "--messages", "600").text
    try #require(try directory.run("restore", "-", "sample", input: sample).status == 0)
    for (conversation, count) in [
      ("bob", 7), ("family", 7), ("project-kite", 7), ("marks", 7), ("noam", 3),
      ("book-club", 600),
    ] {
      let run = try directory.run("html", "sample", "-", "--conversation", conversation)
      let page = try HTMLDocument(run.output)
      try page.expectSelfContained()
      try page.expectAccessible()
      #expect(bubbles(page).count == count)
    }
  }
}
