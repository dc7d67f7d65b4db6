import MsgStore
import MsgStoreTools
import PageFile
import PageFileSalvage
import Testing

/// The local files that nothing needs any more: what a client has to remove.
struct LocalFileTests {
  private func carrier(
    _ id: MessageID, _ path: String?, at time: Int64? = 10, in room: ConversationID = "room"
  ) -> Message {
    var message = message(id, at: time, text: "")
    message.conversation = room
    message.attachments = [MessageAttachment(id: "a", kind: .image, localPath: path)]
    return message
  }

  private func listed(_ store: MessageStore) throws -> [String] {
    try store.read { try $0.unneededFiles(count: 1000) }.sorted()
  }

  @Test func aFileIsListedWithItsLastAttachmentUntilItIsConfirmed() throws {
    let directory = MemoryDirectory()
    var store = try memoryStore(directory)
    try store.write {
      try $0.insert(carrier("m", "/1"))
      try $0.insert(carrier("n", "/1"))
      try $0.delete("m", in: "room")
    }
    #expect(try listed(store) == [])
    try store.write { try $0.delete("n", in: "room") }
    #expect(try listed(store) == ["/1"])
    try store.close()
    store = try memoryStore(directory)
    #expect(try listed(store) == ["/1"])
    try store.expectSound()
    try store.write { chat throws in
      #expect(try chat.confirmRemoval(ofFiles: ["/1", "/2", "", "/1"]) == 1)
      #expect(try chat.confirmRemoval(ofFiles: ["/1"]) == 0)
    }
    #expect(try listed(store) == [])
    try store.expectSound()
  }

  @Test func aFileThatIsNeededAgainLeavesTheList() throws {
    let store = try memoryStore()
    try store.write {
      try $0.insert(carrier("m", "/1"))
      try $0.delete("m", in: "room")
      try $0.insert(carrier("n", nil))
      #expect(try $0.unneededFiles(count: 9) == ["/1"])
      #expect(try $0.setLocalPath("/1", of: "a", message: "n", in: "room"))
      #expect(try $0.unneededFiles(count: 9) == [])
      #expect(try $0.confirmRemoval(ofFiles: ["/1"]) == 0, "it is needed")
    }
    #expect(try listed(store) == [])
    try store.write { try $0.delete("n", in: "room") }
    #expect(try listed(store) == ["/1"])
    try store.expectSound()
  }

  @Test func anotherPathReleasesTheFormer() throws {
    let store = try memoryStore()
    try store.write { try $0.insert(carrier("m", "/1")) }
    let paths: [String?] = ["/1", "/2", nil, "", "/1", String(repeating: "long/", count: 900)]
    let expected: [[String]] = [[], ["/1"], ["/1", "/2"], ["/1", "/2"], ["/2"], ["/1", "/2"]]
    for (path, expected) in zip(paths, expected) {
      try store.write {
        try $0.setLocalPath(path, of: "a", message: "m", in: "room")
      }
      #expect(try listed(store) == expected)
      try store.expectSound()
    }
    try store.write { try $0.receiveRetraction(of: "m", in: "room") }
    #expect(try listed(store).count == 3, "a long path, too")
    try store.expectSound()
  }

  /// Whatever ends an attachment releases its file.
  @Test(arguments: 0..<9) func everyEndOfAnAttachmentReleasesItsFile(way: Int) throws {
    let store = try memoryStore(prunesByItself: false)
    try store.write {
      var message = carrier("m", "/1", at: 1_000_000)
      message.sender = "me"
      message.expiresAt = way == 8 ? time(999_000) : nil
      try $0.insert(message, as: .history)
      for index in 0..<3 {
        try $0.insert(
          carrier(MessageID("n\(index)"), "/\(index + 5)", at: 2_000_000), as: .history)
      }
      try $0.insert(carrier("other", "/9", at: 5, in: "other"))
    }
    // A step may have erased the message that has expired.
    #expect(try way == 8 || listed(store) == [])
    try store.write {
      switch way {
      case 0: try $0.delete("m", in: "room")
      case 1: try $0.receiveRetraction(of: "m", in: "room")
      case 2:
        try $0.retract("m", in: "room")
        try $0.confirmRetraction(of: "m", in: "room")
      case 3:
        try $0.receiveEdit(of: "m", in: "room", text: "new", attachments: [], at: time(3_000_000))
      case 4: try $0.receiveConversationDeletion("room", at: time(1_500_000))
      case 5: try $0.deleteConversation("room")
      case 6: try $0.setRetention(Retention(messageCount: 3), of: "room")
      case 7: try $0.setLocalPath(nil, of: "a", message: "m", in: "room")
      default: break
      }
    }
    try store.finishWork()
    #expect(
      try listed(store) == (way == 5 ? ["/1", "/5", "/6", "/7"] : ["/1"]), "way \(way)")
    try store.expectSound()
  }

  @Test func aMergedConversationKeepsItsFiles() throws {
    let store = try memoryStore()
    try store.write {
      try $0.insert(carrier("m", "/1", in: "a"))
      try $0.insert(carrier("m", "/2", in: "b"))
      try $0.insert(carrier("n", "/3", in: "b"))
      try $0.renameConversation("b", to: "a")
    }
    try store.finishWork()
    // Both have the message, which keeps one path.
    let kept = try store.read { try $0.attachments(of: "m", in: "a").map(\.attachment.localPath) }
    let other = kept == ["/1"] ? "/2" : "/1"
    #expect(try listed(store) == [other])
    try store.expectSound()
  }

  @Test func theListIsReadInParts() throws {
    let store = try memoryStore()
    let paths = (0..<50).map { "/file \($0)" }
    try store.write {
      for (index, path) in paths.enumerated() {
        try $0.insert(carrier(MessageID("m\(index)"), path))
        try $0.delete(MessageID("m\(index)"), in: "room")
      }
    }
    try store.read { chat in
      var found: [String] = []
      while case let part = try chat.unneededFiles(count: 7, after: found.last), !part.isEmpty {
        #expect(part.count <= 7)
        found += part
      }
      #expect(found.sorted() == paths.sorted())
      #expect(try chat.unneededFiles(count: 0) == [] && chat.unneededFiles(count: -1) == [])
    }
    // A path that has left the list stays a place in it.
    let first = try store.read { try $0.unneededFiles(count: 20) }
    try store.write { _ = try $0.confirmRemoval(ofFiles: first) }
    let rest = try store.read { try $0.unneededFiles(count: 100, after: first.last) }
    #expect(Set(rest) == Set(paths).subtracting(first) && rest.count == 30)
  }

  /// Paths of one digest have entries of their own.
  @Test func pathsOfOneDigestAreToldApart() throws {
    let (a, b) = ("8yn0iYCKYHlIj4-BwPqk", "GReLUrM4wMqfg9yzV3KQ")
    #expect(FileIndex.digest(a) == FileIndex.digest(b))
    let store = try memoryStore()
    try store.write {
      try $0.insert(carrier("m", a))
      try $0.insert(carrier("n", b))
      try $0.delete("m", in: "room")
    }
    #expect(try listed(store) == [a])
    try store.write { try $0.delete("n", in: "room") }
    #expect(try listed(store) == [a, b].sorted())
    try store.expectSound()
    try store.read { chat in
      let first = try chat.unneededFiles(count: 1)
      #expect(try Set(first + chat.unneededFiles(count: 1, after: first.last)) == [a, b])
    }
    try store.write {
      #expect(try $0.confirmRemoval(ofFiles: [a]) == 1)
      try $0.insert(carrier("o", "/1"))
    }
    #expect(try listed(store) == [b])
    try store.write { try $0.setLocalPath(b, of: "a", message: "o", in: "room") }
    #expect(try listed(store) == ["/1"])
    try store.expectSound()
  }

  @Test func listenersAreTold() throws {
    let store = try memoryStore()
    let changes = store.changes.makeAsyncIterator()
    try store.write { try $0.insert(carrier("m", "/1")) }
    #expect(changes.nextIfThere()?.hasUnneededFileChanges == false)
    try store.write { try $0.delete("m", in: "room") }
    #expect(changes.nextIfThere()?.hasUnneededFileChanges == true)
    try store.write { _ = try $0.confirmRemoval(ofFiles: ["/1"]) }
    #expect(changes.nextIfThere()?.hasUnneededFileChanges == true)
    try store.write { _ = try $0.confirmRemoval(ofFiles: ["/1"]) }
    #expect(changes.nextIfThere() == nil)
  }

  @Test func exportsAndSalvagedStoresHaveTheList() throws {
    let directory = MemoryDirectory()
    let store = try memoryStore(directory)
    try store.write {
      try $0.insert(carrier("m", "/1"))
      try $0.insert(carrier("n", "/2"))
      try $0.delete("m", in: "room")
    }
    let lines = try store.lines()
    #expect(
      String(decoding: lines, as: UTF8.self).contains(#"{"kind":"unneeded_file","path":"/1"}"#))
    let restored = try MessageStore.restored(from: lines)
    #expect(try listed(restored) == ["/1"])
    try restored.expectSound()
    // A file that an attachment has is not unneeded, whoever says so.
    let wrong = lines + Array(#"{"kind":"unneeded_file","path":"/2"}"#.utf8) + [10]
    #expect(try listed(MessageStore.restored(from: wrong)) == ["/1"])
    try store.close()
    let target = MemoryDirectory()
    _ = try MessageSalvage(try PageSalvage(in: directory, name: "store"))
      .run(in: target, name: "store")
    let salvaged = try memoryStore(target)
    #expect(try listed(salvaged) == ["/1"])
    try salvaged.expectSound()
  }

  @Test func aStoreWithoutPathsHasNoEntry() throws {
    let directory = MemoryDirectory()
    let store = try memoryStore(directory)
    try store.write {
      for index in 0..<20 { try $0.insert(carrier(MessageID("m\(index)"), nil)) }
      try $0.delete("m3", in: "room")
    }
    #expect(try store.read { try $0.unneededFiles(count: 9) } == [])
    try store.close()
    #expect(try directory.indexCells(.moving, .hashed, .neededFile, .unneededFile).isEmpty)
  }
}
