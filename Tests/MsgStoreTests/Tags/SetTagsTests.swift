import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// Tags that the client or its server sets: pinned, starred, links, and names of the client's own.
struct SetTagsTests {
  private let todo = MessageTag.own("todo")

  private func tags(_ store: MessageStore, _ id: MessageID) throws -> [MessageTag] {
    try #require(try store.message(id)).tags
  }

  @Test func tagsAreSetAndRemovedHere() throws {
    let clock = TestClock(50)
    let store = try memoryStore(clock: clock)
    try store.write { chat throws in
      for number in 1...3 as ClosedRange<Int64> {
        try chat.insert(message(MessageID("m\(number)"), at: number, number))
      }
      #expect(try chat.setTag(.pinned, of: "m2", in: "room"))
      #expect(try !chat.setTag(.pinned, of: "m2", in: "room"))
      for tag in [.starred, todo, .link] as [MessageTag] {
        #expect(try chat.setTag(tag, of: "m1", in: "room"))
        #expect(try chat.setTag(tag, of: "m3", in: "room"))
      }
      #expect(try !chat.removeTag(.pinned, of: "m1", in: "room"))
    }
    #expect(try store.names(.pinned) == ["m2"])
    for tag in [.starred, todo, .link] as [MessageTag] {
      #expect(try store.names(tag) == ["m1", "m3"])
    }
    #expect(try store.names(.own("other")) == [])
    try store.read { chat throws in
      let others = try chat.thread("room").tagged(.own("other"))
      #expect(try others.around("m2", count: 3).isEmpty)
      #expect(throws: StoreError.message(.notFound, "none", in: "room")) {
        try others.around("none", count: 3)
      }
    }
    #expect(try tags(store, "m1") == [.link, .starred, todo])
    #expect(try tags(store, "m2") == [.pinned])
    try store.expectSound()
    // The clock has gone back meanwhile.
    clock.set(1)
    try store.write { chat throws in
      #expect(try chat.removeTag(todo, of: "m1", in: "room"))
      #expect(try chat.names(todo) == ["m3"])
      #expect(try chat.setTag(todo, of: "m1", in: "room"))
      #expect(try chat.removeTag(.starred, of: "m3", in: "room"))
    }
    #expect(try store.names(todo) == ["m1", "m3"])
    #expect(try store.names(.starred) == ["m1"])
    #expect(try tags(store, "m3") == [.link, todo])
    try store.expectSound()
  }

  @Test func whatCannotBeTaggedIsRefused() throws {
    let store = try memoryStore()
    try store.write { chat throws in
      try chat.insert(message("m", at: 1, from: "me"))
      try chat.insert(message("gone", at: 1, from: "me"))
      try chat.receiveRetraction(of: "gone", in: "room", at: nil)
      for tag in [MessageTag.image, .video, .audio, .file, .mention] {
        #expect(throws: StoreError.input(.tag(tag))) {
          try chat.setTag(tag, of: "m", in: "room")
        }
        #expect(throws: StoreError.input(.tag(tag))) {
          try chat.receiveTag(tag, of: "m", in: "room", at: time(1))
        }
      }
      #expect(throws: StoreError.input(.tag(.link))) { _ = try chat.tagged(.link) }
      #expect(throws: StoreError.message(.notFound, "x", in: "room")) {
        try chat.setTag(.pinned, of: "x", in: "room")
      }
      #expect(throws: StoreError.message(.retracted, "gone", in: "room")) {
        try chat.setTag(.pinned, of: "gone", in: "room")
      }
      #expect(throws: StoreError.input(.identifier(what: "tag", byteCount: 0))) {
        try chat.setTag(.own(""), of: "m", in: "room")
      }
      for number in 0..<16 { try chat.setTag(.own("tag \(number)"), of: "m", in: "room") }
      #expect(throws: StoreError.input(.tooMany(.ownTags, count: 17, limit: 16))) {
        try chat.setTag(.own("one more"), of: "m", in: "room")
      }
      #expect(try chat.message("m", in: "room")?.tags.count == 16)
    }
    try store.expectSound()
  }

  /// All orders of what somebody says of a tag, of the message, and of its names come to the same.
  @Test func wordsMayComeInAnyOrderAndBeforeTheirMessage() throws {
    let acts: [(String, (borrowing StoreWriter) throws(StoreError) -> Void)] = [
      ("insert", { w throws(StoreError) in try w.insert(attached("m", .image, at: 5)) }),
      (
        "star",
        { w throws(StoreError) in
          try w.receiveTag(.starred, of: "m", in: "room", at: time(7))
        }
      ),
      (
        "unstar",
        { w throws(StoreError) in
          try w.receiveTag(.starred, isRemoved: true, of: "s", in: "room", at: time(7))
        }
      ),
      (
        "todo",
        { w throws(StoreError) in
          try w.receiveTag(.own("todo"), of: "s", in: "room", at: time(9))
        }
      ),
      (
        "untodo",
        { w throws(StoreError) in
          try w.receiveTag(.own("todo"), isRemoved: true, of: "m", in: "room", at: time(8))
        }
      ),
      (
        "name",
        { w throws(StoreError) in
          try w.acknowledge("m", in: "room", serverTimestamp: time(5), as: "s")
        }
      ),
    ]
    var random = SeededGenerator(seed: seeds(1)[0])
    for _ in 0..<60 {
      let order = acts.shuffled(using: &random)
      let comment: Comment = "\(order.map(\.0))"
      let store = try memoryStore()
      for act in order + [order[0], order[3]] { try store.write { try act.1($0) } }
      #expect(try store.names(.starred) == [], comment)
      #expect(try store.names(.own("todo")) == ["m"], comment)
      #expect(try store.names(.image) == ["m"], comment)
      #expect(try tags(store, "m") == [.own("todo")], comment)
      try store.expectSound()
      try store.close()
    }
  }

  @Test func tagsGoWithTheirMessage() throws {
    let directory = MemoryDirectory()
    let store = try memoryStore(directory)
    try store.write { chat throws in
      for id in ["a", "b", "c", "d"] as [MessageID] {
        try chat.insert(message(id, at: 1, from: "me"))
        for tag in [.pinned, .starred, todo] as [MessageTag] {
          try chat.setTag(tag, of: id, in: "room")
        }
      }
      try chat.acknowledge("a", in: "room", serverTimestamp: time(9), revision: 1)
      try chat.delete("b", in: "room")
      try chat.receiveRetraction(of: "c", in: "room", at: nil)
      // What comes later is not kept.
      try chat.receiveTag(.pinned, of: "b", in: "room", at: time(99))
      try chat.receiveTag(.pinned, of: "c", in: "room", at: time(99))
    }
    for tag in [.pinned, .starred, todo] as [MessageTag] {
      #expect(try store.names(tag) == ["d", "a"])
    }
    try store.expectSound()
    try store.write { try $0.deleteConversation("room") }
    try store.finishWork()
    #expect(try store.read { try $0.tagged(.pinned).count } == 0)
    try store.expectSound()
    try store.close()
    // Nothing but the name is left.
    #expect(try directory.indexCells(.tag).map(\.value) == [Array("todo".utf8)])
  }

  @Test func pinnedAndStarredAreReadAcrossConversations() throws {
    let store = try memoryStore(packing: PackingSizes(looseCount: 2))
    var expected: [(time: Int64, room: Int, id: String)] = []
    try store.write { chat throws in
      for number in 0..<90 as Range<Int64> {
        let room = Int(number % 3)
        // Several of one time, in one conversation and in several.
        let moment = number / 9
        let id = MessageID("m\(100 + number)")
        try chat.insert(
          Message(
            id: id, in: ConversationID("room\(room)"), from: "you", text: "x",
            serverTimestamp: time(moment), sequence: number))
        guard number % 2 == 0 else { continue }
        try chat.setTag(.starred, of: id, in: ConversationID("room\(room)"))
        expected.append((moment, room, id.string))
      }
      let composed = Message(id: "p", in: "room1", from: "me", text: "x", localTime: time(4))
      try chat.insert(composed)
      try chat.setTag(.starred, of: "p", in: "room1")
    }
    expected.sort { ($0.time, $0.room, $0.id) < ($1.time, $1.room, $1.id) }
    let place = expected.lastIndex { $0.time == 4 && $0.room == 1 }
    expected.insert((4, 1, "p"), at: try #require(place) + 1)
    let names = expected.map(\.id)
    try store.expectSound()
    try store.read { chat throws in
      let starred = try chat.tagged(.starred)
      #expect(try starred.count == names.count)
      #expect(try chat.tagged(.pinned).newest(5).isEmpty)
      for count in [1, 4, 100] {
        var page = try starred.newest(count)
        #expect(page.newer == nil)
        var found = page.map(\.id.string)
        while let older = page.older {
          page = try starred.before(older, count: count)
          #expect(page.newer != nil)
          found = page.map(\.id.string) + found
        }
        #expect(found == names)
        page = try starred.after(nil, count: count)
        #expect(page.older == nil)
        found = page.map(\.id.string)
        while let newer = page.newer {
          page = try starred.after(newer, count: count)
          #expect(page.older != nil)
          found += page.map(\.id.string)
        }
        #expect(found == names)
      }
      #expect(throws: StoreError.input(.count(0))) { _ = try starred.newest(0) }
    }
    // What lies in a conversation that is gone is passed over at once.
    try store.write { try $0.deleteConversation("room2") }
    let left = expected.filter { $0.room != 2 }.map(\.id)
    #expect(try store.read { try $0.tagged(.starred).newest(99).map(\.id.string) } == left)
    try store.finishWork()
    #expect(try store.read { try $0.tagged(.starred).count } == left.count)
    try store.expectSound()
    // And what has become part of another one is there.
    try store.write { try $0.renameConversation("room0", to: "room1") }
    try store.finishWork()
    #expect(try store.read { try $0.tagged(.starred).count } == left.count)
    try store.expectSound()
  }

  @Test func setTagsAreExportedAndRestored() throws {
    let store = try memoryStore()
    try store.write { chat throws in
      try chat.insert(message("m", at: 1))
      try chat.receiveTag(.pinned, of: "m", in: "room", at: time(5))
      try chat.receiveTag(.starred, isRemoved: true, of: "m", in: "room", at: time(6))
      for name in ["b", "a", "own:x", "é"] {
        try chat.receiveTag(.own(name), of: "m", in: "room", at: time(7))
      }
      try chat.receiveTag(.link, of: "later", in: "room", at: time(8))
    }
    var lines: [UInt8] = []
    try StoreExport.records(of: store) { JSONLineWriter.append($0, to: &lines) }
    let directory = MemoryDirectory()
    let restorer = Restorer(isLenient: false, numbersFromOrder: false, localMember: nil)
    try restorer.restore(JSONRecordReader(isLenient: false, source: source(of: lines))) {
      options throws(StoreError) in
      try MessageStore(in: directory, name: "store", options: options)
    }
    let other = try memoryStore(directory)
    var again: [UInt8] = []
    try StoreExport.records(of: other) { JSONLineWriter.append($0, to: &again) }
    #expect(again == lines)
    #expect(try tags(other, "m").count == 5)
    #expect(try other.names(.own("own:x")) == ["m"])
    try other.expectSound()
    try other.write { try $0.insert(message("later", at: 9)) }
    #expect(try other.names(.link) == ["later"])
    try other.expectSound()
  }
}
