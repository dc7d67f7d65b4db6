import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// The messages with a tag, which the store keeps right by itself.
struct TagsTests {
  @Test func aMessageHasTheTagsOfItsAttachmentsTextAndMentions() throws {
    let store = try memoryStore()
    try store.write { chat in
      try chat.insert(attached("image", .image, at: 1))
      try chat.insert(attached("both", .video, .image, at: 2))
      try chat.insert(attached("voice", .audio, at: 3))
      try chat.insert(attached("paper", .document, at: 4))
      try chat.insert(attached("thing", .other, at: 5, text: "https://x.example"))
      try chat.insert(message("link", at: 6, text: "see HTTP://x.example there"))
      try chat.insert(mentioning(["me", "ann"], "me", at: 7))
      try chat.insert(mentioning(["ann"], "ann", at: 8))
      try chat.insert(message("none", at: 9, text: "http:/x ttp://x //x :// http https:// "))
    }
    #expect(try store.names(.image) == ["image", "both"])
    #expect(try store.names(.video) == ["both"])
    #expect(try store.names(.audio) == ["voice"])
    #expect(try store.names(.file) == ["paper", "thing"])
    #expect(try store.names(.link) == ["thing", "link", "none"])
    #expect(try store.names(.mention) == ["me"])
    #expect(try store.names(.image, in: "nowhere") == [])
    try store.expectSound()
  }

  @Test func linksAreFoundAnywhereInATextAndNowhereElse() {
    let places = [
      "http://", "https://", "hTTp://a", "HTTPS://", "xhttp://", "::http://", "ähttps://",
    ]
    let others = [
      "", ":", "://", "http", "http:", "http:/", "ttp://", "s://", "tps://", "htps://", "http :/",
      "httpsx://", "Http;//", "http:/x", "ħttp://", "@TTP://",
    ]
    for length in 0..<20 {
      let space = String(repeating: "a", count: length)
      for place in places { #expect(hasLink(space + place + space), "\(place)") }
      for other in others { #expect(!hasLink(space + ";" + other + "-" + space), "\(other)") }
    }
  }

  private func hasLink(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    let found = Bytes.with(bytes) { $0.hasLink }
    let lower = text.lowercased()
    #expect(found == (lower.contains("http://") || lower.contains("https://")), "\(text)")
    return found
  }

  @Test(arguments: [false, true]) func slicesGoBothWaysAndSayIfThereAreMore(
    isPacked: Bool
  ) throws {
    let store = try memoryStore(packs: isPacked, packing: PackingSizes(looseCount: 2))
    try store.write { chat in
      for number in 0..<300 as Range<Int64> {
        // Ten messages at each time, and every third is an image.
        let (id, time) = (MessageID("m\(1000 + number)"), number / 10)
        try chat.insert(
          number % 3 == 1
            ? attached(id, .image, at: time, number) : message(id, at: time, number))
      }
      for number in 0..<2 {
        try chat.send(attached(MessageID("p\(number)"), .image, at: nil, from: "me"))
      }
    }
    let expected = (0..<300).filter { $0 % 3 == 1 }.map { "m\(1000 + $0)" } + ["p0", "p1"]
    try store.read { chat in
      let thread = try chat.thread("room")
      let images = try thread.tagged(.image)
      #expect(try images.count == 102)
      var slice = try images.after(.start, count: 7)
      var found: [String] = []
      while !slice.isEmpty {
        #expect((slice.older == .end) == found.isEmpty)
        found += slice.ids
        guard case .more(let last) = slice.newer else { break }
        slice = try images.after(last, count: 7)
      }
      #expect(found == expected)
      found = []
      slice = try images.tail(7)
      while !slice.isEmpty {
        #expect((slice.newer == .end) == found.isEmpty)
        found = slice.ids + found
        guard case .more(let first) = slice.older else { break }
        slice = try images.before(first, count: 7)
      }
      #expect(found == expected)
      // From a message that is no image, between two of one time.
      let position = try #require(try chat.message("m1155", in: "room")?.position)
      #expect(try images.after(position, count: 2).ids == ["m1157", "m1160"])
      #expect(try images.before(position, count: 2).ids == ["m1151", "m1154"])
      #expect(try images.around("m1155", count: 4).ids == ["m1151", "m1154", "m1157", "m1160"])
      #expect(try images.around("m1157", count: 3).ids == ["m1154", "m1157", "m1160"])
      #expect(try images.around("m1157", count: 1).ids == ["m1157"])
      #expect(try images.around("m1001", count: 4).ids == ["m1001", "m1004", "m1007", "m1010"])
      #expect(try images.around("p1", count: 4).ids == ["m1295", "m1298", "p0", "p1"])
      #expect(try images.at(time(5), count: 2).ids == ["m1049", "m1052"])
      #expect(try images.tail(1).first?.attachments.map(\.kind) == [.image])
      for count in [0, -1] {
        #expect(throws: StoreError.input(.count(count))) { _ = try images.tail(count) }
      }
      #expect(throws: StoreError.message(.notFound, "x", in: "room")) {
        _ = try images.around("x", count: 2)
      }
      #expect(try thread.tagged(.video).tail(5).isEmpty)
    }
    try store.expectSound()
  }

  @Test func entriesFollowTheirMessage() throws {
    let store = try memoryStore()
    try store.write { chat in
      for id in ["a", "b", "c"] as [MessageID] {
        try chat.send(attached(id, .image, at: nil, from: "me", text: "http://"))
      }
      try chat.insert(attached("d", .image, at: 70))
    }
    #expect(try store.names(.image) == ["d", "a", "b", "c"])
    try store.write { chat in
      try chat.acknowledge("c", in: "room", serverTimestamp: time(50))
      try chat.acknowledge("a", in: "room", serverTimestamp: time(50), as: "s")
      #expect(try chat.names(.image) == ["c", "a", "d", "b"])
    }
    try store.expectSound()
    try store.write { chat in
      try chat.acknowledge("c", in: "room", serverTimestamp: time(90), revision: 1)
      // Another copy brings another attachment, and an edit the first link.
      try chat.insert(attached("d", .image, .audio, at: 70))
      try chat.receive(
        MessageAttachment(id: "late", kind: .document), at: 5, of: "d", in: "room")
      try chat.receiveEdit(of: "d", in: "room", text: "https://", at: time(99))
    }
    #expect(try store.names(.image) == ["a", "d", "c", "b"])
    #expect(try store.names(.audio) == ["d"])
    #expect(try store.names(.file) == ["d"])
    #expect(try store.names(.link) == ["a", "d", "c", "b"])
    try store.expectSound()
    // A more specific kind takes the place of a less specific one.
    try store.write { chat in
      try chat.receive(MessageAttachment(id: "a0", kind: .video), at: 0, of: "d", in: "room")
      try chat.receiveEdit(of: "d", in: "room", text: "no more", at: time(100))
    }
    #expect(try store.names(.image) == ["a", "c", "b"])
    #expect(try store.names(.video) == ["d"])
    #expect(try store.names(.link) == ["a", "c", "b"])
    try store.write { try $0.delete("a", in: "room") }
    #expect(try store.names(.image) == ["c", "b"])
    try store.expectSound()
    try store.write { try $0.deleteConversation("room") }
    try store.finishWork()
    #expect(try store.names(.image) == [])
    try store.expectSound()
  }

  @Test func aRetractedMessageHasNoTags() throws {
    let directory = MemoryDirectory()
    let store = try memoryStore(directory)
    try store.write { chat in
      try chat.insert(attached("a", .image, at: 1, from: "me", text: "http://"))
      try chat.insert(attached("b", .image, at: 1))
      try chat.insert(mentioning(["me"], "c", at: 1))
      try chat.retract("a", in: "room")
    }
    #expect(try store.names(.image) == ["b"])
    #expect(try store.names(.link) == [])
    try store.expectSound()
    // The server does not agree.
    try store.write { chat in
      try chat.refuseRetraction(of: "a", in: "room", because: SendFailure(.permission))
    }
    #expect(try store.names(.image) == ["a", "b"])
    #expect(try store.names(.link) == ["a"])
    try store.write { chat in
      try chat.retract("a", in: "room")
      try chat.confirmRetraction(of: "a", in: "room")
      for id in ["b", "c"] as [MessageID] {
        try chat.receiveRetraction(of: id, in: "room", at: time(9))
      }
    }
    for tag in MessageTag.builtIn { #expect(try store.names(tag) == []) }
    try store.expectSound()
    try store.close()
    #expect(try directory.indexCells(.tag).isEmpty)
  }

  @Test func mentionsAreEnteredOnceTheLocalMemberIsKnown() throws {
    let directory = MemoryDirectory()
    var store = try memoryStore(directory, localMember: nil)
    try store.write { chat in
      for number in 0..<40 as Range<Int64> {
        try chat.insert(
          mentioning(
            [number % 3 == 0 ? "me" : "ann"], MessageID("m\(100 + number)"), at: number / 4))
      }
      try chat.insert(mentioning(["me"], "gone", at: 1))
      try chat.receiveRetraction(of: "gone", in: "room", at: nil)
    }
    #expect(try store.names(.mention) == [])
    try store.expectSound()
    try store.close()
    store = try memoryStore(directory)
    let expected = (0..<40).filter { $0 % 3 == 0 }.map { "m\(100 + $0)" }
    #expect(try store.names(.mention) == expected)
    try store.expectSound()
  }

  @Test func mergedConversationsHaveTheTagsOfBoth() throws {
    for stepCount in [3, 1000] {
      var options = StoreOptions(localMember: "me")
      options.worksInBackground = false
      options.steps = StepSizes(maximumSweepCount: stepCount, maximumMergeCount: stepCount)
      let store = try MessageStore(in: MemoryDirectory(), name: "store", options: options)
      try store.write { chat in
        for number in 0..<20 as Range<Int64> {
          var message = Message(
            id: MessageID("m\(100 + number / 2 * 2)"), in: number % 2 == 0 ? "a" : "b",
            from: "you", text: "http://", serverTimestamp: time(number / 2))
          message.attachments = [
            MessageAttachment(id: "\(number % 2)", kind: number % 2 == 0 ? .image : .audio)
          ]
          try chat.insert(message)
        }
        try chat.renameConversation("a", to: "b")
      }
      try store.finishWork()
      let expected = (0..<10).map { "m\(100 + $0 * 2)" }
      for tag in [MessageTag.image, .audio, .link] {
        #expect(try store.names(tag, in: "b") == expected)
        #expect(try store.names(tag, in: "a") == expected)
      }
      try store.expectSound()
    }
  }

  @Test func runsOfReceivedMessagesHaveTheirLinks() throws {
    for count in [40, 400] {
      let store = try memoryStore()
      try store.write { chat in
        try chat.insert(message("m9999", at: 9999))
        let messages = (0..<count).map { (number: Int) -> Message in
          message(
            MessageID("m\(1000 + number)"), at: Int64(number), Int64(number),
            // The number of one of them is the byte of an "h".
            from: MemberID("you\(number)"),
            text: number % 7 == 3 ? "see https://x.example/\(number)" : "ttp://x")
        }
        try chat.insert(contentsOf: messages, as: .history)
      }
      let expected = (0..<count).filter { $0 % 7 == 3 }.map { "m\(1000 + $0)" }
      #expect(try store.names(.link) == expected)
      try store.expectSound()
    }
  }

  @Test func aStoreWithoutTagsHasNoByteOfThem() throws {
    let directory = MemoryDirectory()
    let store = try memoryStore(directory)
    try store.write { chat in
      for number in 0..<300 as Range<Int64> {
        try chat.insert(message(MessageID("m\(number)"), at: number, number, text: "12:30 or so"))
      }
    }
    try store.close()
    #expect(try directory.indexCells(.tag).isEmpty)
  }

  @Test func aTagTakesFewBytes() throws {
    let directory = MemoryDirectory()
    let store = try memoryStore(directory)
    try store.write { chat in
      for number in 0..<1000 as Range<Int64> {
        let moment = 1_700_000_000_000_000 + number << 26
        try chat.insert(attached(MessageID("m\(number)"), .image, at: moment))
      }
    }
    try store.close()
    let cells = try directory.indexCells(.tag)
    #expect(cells.count == 1001)
    let byteCount = cells.reduce(0) { $0 + $1.key.count + $1.value.count }
    #expect(byteCount == 15_008, "1000 times 15 for the tags, and 8 for their count")
  }
}
