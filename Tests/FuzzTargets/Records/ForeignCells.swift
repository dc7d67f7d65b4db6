import MsgStore
import MsgStoreTools
import PageFile
import PageFileSalvage

/// A message store some of whose cells hold something else.
///
///  1. Whatever the cells hold, every call gives an answer or a `StoreError`.
///  2. What a salvage saves of them is a sound store.
///  3. If a check finds nothing, the store is sound: it can be read and written, and restored from
///     its export.
struct ForeignCells {
  /// The work tree is the last one.
  private static let treeCount = Schema.work.rawValue + 1
  private static let maximumEditCount = 8

  /// A store, and all its cells by trees.
  struct Sample {
    let files: MemoryDirectory
    fileprivate let cells: [[Cell]]
  }

  fileprivate struct Cell {
    let key: [UInt8]
    let value: [UInt8]
  }

  /// A small store that has one of everything.
  private static let sample = makeSample()

  private let sample: Sample
  /// The trees that are changed.
  private let trees: [Int]
  private let directory: MemoryDirectory

  static func run(_ input: inout FuzzInput) throws(BrokenPromise) {
    try run(&input, sample, trees: Array(0..<treeCount))
  }

  static func run(
    _ input: inout FuzzInput, _ sample: Sample, trees: [Int]
  ) throws(BrokenPromise) {
    let foreign = ForeignCells(sample: sample, trees: trees, directory: sample.files.copy())
    do throws(PageFileError) {
      try foreign.edit(&input)
    } catch {
      throw BrokenPromise("cells cannot be written: \(error)")
    }
    try foreign.salvage()
    let isSound = try foreign.read()
    try foreign.write(&input, isSound: isSound)
    if isSound { try JSONLinesTarget.promiseSoundStore(foreign.directory, hasForeignTimes: true) }
  }

  // MARK: The store

  private static func makeSample() -> Sample {
    let directory = MemoryDirectory()
    do {
      var options = StoreOptions()
      options.localMember = "me"
      let store = try MessageStore.inMemory(directory, options)
      try store.write { writer in
        try writer.putConversation("club", participants: ["me", "ann", "bob"], title: "Books")
        _ = try writer.findOrCreateConversation(with: ["me", "cy"])
        for number in 0..<6 {
          try writer.insert(message(number, in: "club", from: number % 2 == 0 ? "ann" : "me"))
        }
        _ = try writer.markRead("club")
        for number in 6..<9 { try writer.insert(message(number, in: "club", from: "bob")) }
        try writer.insert(
          Message(id: "draft", in: "club", from: "me", text: "later", sequence: 9, replyTo: "m-3"))
        try writer.insert(
          Message(
            id: "lost", in: "room", from: "me", text: "no", localTime: time(5), status: .failed))
        try writer.insert(message(1, in: "room", from: "dee"), as: .history)
        try addFacts(with: writer)
        for tag in [MessageTag.pinned, .starred, .link, .own("todo")] {
          for id in ["m-2", "m-5"] as [MessageID] {
            try writer.receiveTag(tag, of: id, in: "club", at: time(9))
          }
        }
        try writer.receiveTag(.starred, of: "m-1", in: "room", at: time(9))
        try writer.receiveTag(.pinned, of: "not here", in: "room", at: time(9))
        try writer.declareAbsent(40...50, in: "club")
        try writer.setSyncPosition([1, 2, 3], for: "server")
        try writer.setSyncPosition([4], for: "server", in: "club")
        try writer.receive(MemberProfile(of: "ann", name: "Ann", picture: "p", version: 2))
        try writer.receive(MemberProfile(of: "bob", name: "Bob", fetchedAt: time(7)))
        try writer.forgetMember("bob")
        try writer.receive(
          [
            .kind("poll"), OwnField("a", [1], at: time(8)),
            OwnField("b", [UInt8](repeating: 7, count: 300)),
          ],
          of: .message("m-3", in: "club"))
      }
      try store.close()
      return try Self.sample(directory)
    } catch {
      preconditionFailure("the sample store cannot be made: \(error)")
    }
  }

  /// The sample that a closed store is.
  static func sample(_ files: MemoryDirectory) throws -> Sample {
    let database = try Database(in: files, name: "store")
    let transaction = try database.beginRead()
    let cells = try (0..<treeCount).map { try Self.cells(of: transaction.source, $0) }
    try database.close()
    return Sample(files: files, cells: cells)
  }

  private static func addFacts(with writer: borrowing StoreWriter) throws {
    try writer.delete("m-8", in: "club")
    try writer.receiveRetraction(of: "m-7", in: "club", at: time(300))
    try writer.receiveEdit(
      of: "m-2", in: "club", text: "better", mentions: ["me", "ann"], at: time(200))
    for id in ["m-2", "unknown"] as [MessageID] {
      try writer.receive(Reaction("+1", from: "bob", at: time(201)), to: id, in: "club")
    }
    try writer.receive(
      MessageAttachment(id: "a", kind: .image, remoteURL: "https://a", contentHash: [1]), of: "m-3",
      in: "club")
    _ = try writer.setTransfer(.download, to: .queued, of: "a", message: "m-3", in: "club")
    for extent in [.messages(["m-1"]), .upTo("m-4"), .upTo("unknown")] as [ReceivedReceipt.Extent] {
      try writer.receive(ReceivedReceipt(in: "club", of: "ann", .read, extent, time: time(400)))
    }
    _ = try writer.setDraft("begun", replyTo: "m-1", in: "club")
    _ = try writer.setPinned(true, of: "club")
  }

  private static func time(_ seconds: Int64) -> Timestamp { Timestamp(seconds: seconds) }

  private static func message(
    _ number: Int, in conversation: ConversationID, from sender: MemberID
  ) -> Message {
    Message(
      id: MessageID("m-\(number)"), in: conversation, from: sender,
      text: String(repeating: "text \(number) ", count: number == 4 ? 120 : 2),
      localTime: number == 2 ? time(3) : nil, serverTimestamp: time(Int64(100 + number)),
      sequence: number == 5 ? nil : Int64(number), replyTo: number == 3 ? "m-1" : nil)
  }

  private static func cells(of source: PageSource, _ tree: Int) throws(PageFileError) -> [Cell] {
    try source.enter()
    defer { source.leave() }
    var cells: [Cell] = []
    var cursor = Cursor(source, TreeNumber(tree))
    var isAtCell = try cursor.first()
    while isAtCell {
      var key = ByteBuffer()
      var value = ByteBuffer()
      cursor.appendKey(to: &key)
      try cursor.appendValue(to: &value)
      cells.append(Cell(key: key.bytes.array(), value: value.bytes.array()))
      isAtCell = try cursor.next()
    }
    return cells
  }

  // MARK: Edits

  private func edit(_ input: inout FuzzInput) throws(PageFileError) {
    let database = try Database(in: directory, name: "store")
    let transaction = try database.beginWrite()
    for _ in 0..<input.index(below: Self.maximumEditCount + 1) {
      try edit(transaction.source, &input)
    }
    _ = try transaction.commit(.relaxed)
    try database.close()
  }

  private func edit(_ source: PageSource, _ input: inout FuzzInput) throws(PageFileError) {
    let tree = trees[input.index(below: trees.count)]
    let cells = sample.cells[tree]
    if cells.isEmpty { return }
    let cell = cells[input.index(below: cells.count)]
    var (key, value) = (cell.key, cell.value)
    switch input.index(below: 8) {
    case 0:
      _ = try source.remove(key, tree: tree)
      return
    case 1: value = input.take(input.index(below: 64))
    case 2: value.store([input.byte()], at: input.index(below: value.count))
    case 3: value.store(input.number(), 8, at: input.index(below: value.count))
    case 4:
      let offset = input.index(below: value.count)
      value = value.prefix(offset) + input.take(input.index(below: 16)) + value.dropFirst(offset)
    case 5: value.removeLast(input.index(below: value.count + 1))
    case 6:
      if input.bool() { _ = try source.remove(key, tree: tree) }
      key.store([input.byte()], at: input.index(below: key.count))
    default:
      key = input.bool() ? key + input.take(4) : input.take(input.index(below: 40))
    }
    input.note("tree \(tree): \(key) -> \(value)")
    if key.isEmpty || key.count > BTree.maximumKeyByteCount { return }
    try source.put(key, value, tree: tree)
  }

  // MARK: Using it

  /// Whatever the cells hold, what is saved of them is a sound store.
  private func salvage() throws(BrokenPromise) {
    let saved = MemoryDirectory()
    let failure = try attempt {
      let salvage = MessageSalvage(try PageSalvage(in: directory, name: "store"))
      _ = try salvage.run(in: saved, name: "store")
    }
    switch failure {
    case nil: try JSONLinesTarget.promiseSoundStore(saved, hasForeignTimes: true)
    case StoreError.opening(.schemaTooNew)?, StoreError.opening(.schemaTooOld)?: return
    case let failure?: throw BrokenPromise("a salvage fails: \(failure)")
    }
  }

  /// Reads everything in every way, and answers whether a check finds nothing wrong.
  private func read() throws(BrokenPromise) -> Bool {
    var isSound = false
    let failure = try attempt {
      let store = try MessageStore.inMemory(directory, access: .readOnly)
      defer { try? store.close() }
      isSound = try store.check().isEmpty
      _ = try JSONLinesTarget.export(store)
    }
    if isSound, let failure { throw BrokenPromise("a sound store cannot be read: \(failure)") }
    try attempt {
      let store = try MessageStore.inMemory(directory, access: .readOnly)
      defer { try? store.close() }
      try store.read { snapshot in try look(into: snapshot, isSound: isSound) }
    }
    return isSound
  }

  /// Runs `body`, which may only throw what a store or a tool throws.
  @discardableResult
  private func attempt(_ body: () throws -> Void) throws(BrokenPromise) -> (any Error)? {
    do {
      try body()
      return nil
    } catch let error as BrokenPromise {
      throw error
    } catch  where error is StoreError || error is StoreToolError {
      return error
    } catch {
      throw BrokenPromise("something else is thrown: \(error)")
    }
  }

  private func look(into snapshot: borrowing StoreSnapshot, isSound: Bool) throws {
    for id: ConversationID in ["club", "room", "cy", "nowhere"] {
      try attempt { _ = try snapshot.conversation(id) }
      try attempt { _ = try snapshot.message("m-1", in: id) }
      try attempt {
        let thread = try snapshot.thread(id)
        var ids = try thread.tail(3).map(\.id)
        try attempt { ids += try thread.around("m-4", count: 4).map(\.id) }
        for tag in MessageTag.builtIn + [.own("todo")] {
          try attempt {
            let tagged = try thread.tagged(tag)
            ids += try tagged.after(.start, count: 9).map(\.id)
            ids += try tagged.around("m-4", count: 4).map(\.id)
            _ = try tagged.count
          }
        }
        let middle = try thread.at(Self.time(104), count: 5)
        if let first = middle.first, let last = middle.last {
          _ = try thread.before(first.position, count: 100).map(\.text)
          _ = try thread.after(last.position, count: 100).map { "\($0)" }
        }
      }
    }
    for text in ["e", "É", "nowhere"] {
      try attempt {
        var edge: SearchEdge? = SearchEdge(try SearchQuery(text))
        while let start = edge { edge = try snapshot.search(from: start, count: 3).edge }
      }
    }
    for tag in [MessageTag.pinned, .starred] {
      try attempt {
        let tagged = try snapshot.tagged(tag)
        var page = try tagged.newest(1)
        while let older = page.older { page = try tagged.before(older, count: 1) }
        _ = try tagged.count
      }
    }
    try attempt { _ = try snapshot.gaps(in: "club") }
    try attempt { _ = try snapshot.knownSequences(in: "club", after: 3) }
    try attempt { _ = try snapshot.syncPositions() + snapshot.syncPositions(in: "club") }
    try attempt {
      let slice = try snapshot.conversations(count: 2)
      if let position = slice.older {
        _ = try snapshot.conversations(count: 100, after: position)
      }
    }
  }

  private func write(_ input: inout FuzzInput, isSound: Bool) throws(BrokenPromise) {
    var store: MessageStore?
    let refusal = try attempt { store = try MessageStore.inMemory(directory) }
    guard let store else {
      if isSound, let refusal { throw BrokenPromise("a sound store stays closed: \(refusal)") }
      return
    }
    for _ in 0..<6 {
      let operation = input.byte()
      let failure = try attempt {
        try store.write(.relaxed) { writer in try Self.change(writer, operation) }
      }
      if isSound, let failure, !Self.isLimit(failure) {
        throw BrokenPromise("a sound store refuses change \(operation): \(failure)")
      }
    }
    try attempt { try store.checkpoint() }
    let failure = try attempt {
      let findings = try store.check()
      if isSound { try promise(findings.isEmpty, "a check finds: \(findings.prefix(3))") }
      try store.close()
    }
    if isSound, let failure { throw BrokenPromise("a sound store cannot be closed: \(failure)") }
  }

  private static func isLimit(_ error: any Error) -> Bool {
    if case StoreError.numbersExhausted = error { true } else { false }
  }

  private static func change(_ writer: borrowing StoreWriter, _ operation: UInt8) throws {
    let conversation: ConversationID = operation & 1 == 0 ? "club" : "room"
    let number = Int(operation >> 4)
    switch operation >> 1 & 7 {
    case 0:
      try writer.insert(message(number, in: conversation, from: "ann"))
      try writer.declareAbsent(Int64(number) * 3...45, in: conversation)
    case 1: try writer.insert(message(number + 20, in: conversation, from: "eve"))
    case 2:
      try writer.acknowledge("draft", in: conversation, serverTimestamp: time(104), sequence: 4)
    case 3: try writer.receiveStatus(.read, of: MessageID("m-\(number)"), in: conversation)
    case 4: try writer.delete(MessageID("m-\(number)"), in: conversation)
    case 5: try writer.markRead(conversation)
    case 6: try writer.putConversation(conversation, participants: ["me", "fay"], title: "New")
    default:
      _ = try writer.findOrCreateConversation(with: ["me", operation & 16 == 0 ? "cy" : "gil"])
    }
  }
}
