import MsgStore
import MsgStoreTools
import PageFile
import PageFileSalvage
import Simulation
import Testing

/// Names and pictures of members.
struct ProfileTests {
  private func profile(
    _ id: MemberID, _ name: String?, _ version: Int64 = 0, at fetchedAt: Int64? = nil,
    picture: String? = nil
  ) -> MemberProfile {
    MemberProfile(
      of: id, name: name, picture: picture, version: version, fetchedAt: fetchedAt.map(time))
  }

  @Test func aProfileIsStoredInTheCommitOfItsMessage() throws {
    let directory = MemoryDirectory()
    let store = try memoryStore(directory)
    let ann = profile("ann", "Ann", 3, at: 50, picture: "https://x.example/ann")
    try store.write { chat throws in
      #expect(try chat.profile(of: "ann") == nil)
      #expect(try chat.receive(ann))
      try chat.receive(profile("zoe", nil))
      try chat.insert(message("m", at: 10, from: "ann"))
      #expect(try chat.profile(of: "ann") == ann)
    }
    struct Refused: Error {}
    #expect(throws: Refused.self) {
      try store.write { chat throws in
        try chat.receive(profile("ann", "Anna", 4))
        throw Refused()
      }
    }
    try store.close()
    let again = try memoryStore(directory)
    try again.read { chat throws in
      #expect(try chat.profile(of: "ann") == ann)
      let slice = try chat.thread("room").tail(5)
      #expect(try chat.profiles(of: slice.map(\.sender) + ["bob", "ann"]) == ["ann": ann])
      #expect(try chat.profiles() == [ann, profile("zoe", nil)])
      for unknown in ["bob", "", MemberID(String(repeating: "x", count: 300))] as [MemberID] {
        #expect(try chat.profile(of: unknown) == nil)
      }
    }
    try again.expectSound()
  }

  @Test func theSameProfileIsNoNews() throws {
    let store = try memoryStore()
    try store.write { chat throws in
      #expect(try chat.receive(profile("ann", "é", 1, at: 5)))
      #expect(try !chat.receive(profile("ann", "é", 1, at: 5)))
      #expect(try !chat.receive(profile("ann", "old", 0, at: 9)))
      #expect(try !chat.receive(profile("ann", "earlier", 1, at: 4)))
      // The same text for a reader, in other bytes.
      #expect(try chat.receive(profile("ann", "e\u{301}", 2, at: 5)))
      #expect(try chat.profile(of: "ann")?.name?.utf8.count == 3)
    }
  }

  @Test func profilesInAnyOrderEndTheSame() throws {
    for seed in seeds(20) {
      var random = SeededGenerator(seed: seed)
      let names: [String?] = [nil, "", "Ann", "Anna", "Änne"]
      let given = (0..<30).map { _ in
        profile(
          ["ann", "bob", "me"][Int.random(in: 0..<3, using: &random)],
          names.randomElement(using: &random) ?? nil, Int64.random(in: -1..<3, using: &random),
          at: random.chance(60) ? Int64.random(in: 0..<3, using: &random) : nil,
          picture: names.randomElement(using: &random) ?? nil)
      }
      var results: Set<[UInt8]> = []
      for _ in 0..<4 {
        let store = try memoryStore()
        for profile in given.shuffled(using: &random) + given.shuffled(using: &random) {
          try store.write(.relaxed) { chat in _ = try chat.receive(profile) }
        }
        results.insert(try store.lines())
        let oracle = Dictionary(grouping: given, by: \.id).compactMapValues(newest)
        let stored = try store.read { try $0.profiles(of: oracle.keys) }
        #expect(stored == oracle, "seed \(seed)")
        try store.expectSound()
      }
      #expect(results.count == 1, "seed \(seed)")
    }
  }

  /// The profile that counts, by the sentence in its documentation.
  private func newest(_ profiles: [MemberProfile]) -> MemberProfile? {
    func bytes(_ text: String?) -> [UInt8] { text.map { [1] + Array($0.utf8) } ?? [] }
    func numbers(_ profile: MemberProfile) -> [Int64] {
      [max(0, profile.version), profile.fetchedAt?.microseconds ?? -1]
    }
    func precedes(_ a: MemberProfile, _ b: MemberProfile) -> Bool {
      if numbers(a) != numbers(b) { return numbers(a).lexicographicallyPrecedes(numbers(b)) }
      let (name, other) = (bytes(a.name), bytes(b.name))
      if name != other { return name.lexicographicallyPrecedes(other) }
      return bytes(a.picture).lexicographicallyPrecedes(bytes(b.picture))
    }
    guard var found = profiles.max(by: precedes) else { return nil }
    found.version = max(0, found.version)
    return found
  }

  @Test func textsBeyondTheLimitsAreRefused() throws {
    let (nameLimit, pictureLimit) = (
      MemberProfile.maximumNameByteCount, MemberProfile.maximumPictureByteCount
    )
    let store = try memoryStore()
    try store.write { chat throws in
      #expect(
        throws: StoreError.input(
          .tooLong(.memberName, byteCount: nameLimit + 1, limit: nameLimit))
      ) {
        try chat.receive(profile("ann", String(repeating: "n", count: nameLimit + 1)))
      }
      #expect(
        throws: StoreError.input(
          .tooLong(.avatar, byteCount: pictureLimit + 1, limit: pictureLimit))
      ) {
        try chat.receive(
          profile("ann", nil, picture: String(repeating: "p", count: pictureLimit + 1)))
      }
      #expect(throws: StoreError.self) { try chat.receive(profile("", "nobody")) }
      #expect(try chat.profiles().isEmpty)
      try chat.receive(
        profile(
          "ann", String(repeating: "n", count: nameLimit), .max, at: 1,
          picture: String(repeating: "p", count: pictureLimit)))
    }
    try store.expectSound()
  }

  @Test func aForgottenProfileIsInNoneOfTheFiles() throws {
    let canary = Array("Kanarienvogel".utf8)
    for kind in ["forgotten", "forgotten after a change"] {
      let directory = MemoryDirectory()
      let store = try memoryStore(directory)
      try store.write { chat throws in
        for index in 0..<60 {
          try chat.receive(profile(MemberID("member \(index)"), "Name \(index)"))
        }
        try chat.insert(message("m", at: 1, from: "ann"))
        try chat.receive(profile("ann", "Kanarienvogel", 1, picture: "Kanarienvogel.png"))
      }
      try store.checkpoint()
      if kind != "forgotten" {
        try store.write { chat in _ = try chat.receive(profile("ann", "Kanarienvogel II", 2)) }
      }
      #expect(directory.holds(canary))
      try store.write { chat throws in
        #expect(try chat.forgetMember("ann"))
        #expect(try !chat.forgetMember("ann"))
        #expect(try !chat.forgetMember("nobody"))
      }
      try store.checkpoint()
      #expect(!directory.holds(canary), "\(kind)")
      try store.read { chat throws in
        #expect(try chat.profile(of: "ann") == nil)
        #expect(try chat.profiles().count == 60)
        #expect(try chat.message("m", in: "room")?.sender == "ann")
      }
      try store.expectSound()
    }
  }

  @Test func onlyNewsBringAForgottenProfileBack() throws {
    let store = try memoryStore()
    try store.write { chat throws in
      try chat.receive(profile("ann", "Ann", 2, at: 10))
      try chat.forgetMember("ann")
      for old in [profile("ann", "Ann", 2, at: 10), profile("ann", "Ann", 1, at: 90)] {
        #expect(try !chat.receive(old))
      }
      #expect(try chat.profile(of: "ann") == nil)
      #expect(try chat.receive(profile("ann", "Ann again", 2, at: 11)))
      #expect(try chat.profile(of: "ann")?.name == "Ann again")
      try chat.forgetMember("ann")
      #expect(try chat.receive(profile("ann", "Ann the third", 3)))
    }
    try store.expectSound()
  }

  @Test func changedProfilesAreTold() throws {
    let store = try memoryStore()
    let changes = store.changes.makeAsyncIterator()
    try store.write { chat throws in
      try chat.receive(profile("ann", "Ann", 1))
      try chat.receive(profile("bob", "Bob", 1))
    }
    let told = try #require(changes.nextIfThere())
    #expect(told.profiles == ["ann", "bob"] && told.hasProfileChanges)
    #expect(told.conversations.isEmpty && !told.coversEverything && !told.hasCounterChanges)
    try store.write { chat in _ = try chat.receive(profile("ann", "old", 0)) }
    #expect(changes.nextIfThere() == nil)
    try store.write { chat in _ = try chat.forgetMember("bob") }
    try store.write { chat in _ = try chat.receive(profile("cy", "Cy")) }
    #expect(changes.nextIfThere()?.profiles == ["bob", "cy"])
    try store.write { chat throws in
      for index in 0...StoreChanges.maximumProfileCount {
        try chat.receive(profile(MemberID("member \(index)"), "Name"))
      }
    }
    let many = try #require(changes.nextIfThere())
    #expect(many.coversAllProfiles && many.profiles.isEmpty && !many.coversEverything)
  }

  @Test func aLiveValueFollowsProfilesAlone() throws {
    let store = try memoryStore()
    var names = store.live(.profiles) { chat in try chat.profiles().map(\.name) }
      .makeAsyncIterator()
    #expect(try names.nextIfThere() == [])
    try store.write { chat in _ = try chat.receive(profile("ann", "Ann")) }
    #expect(try names.nextIfThere() == ["Ann"])
    try store.write { chat in _ = try chat.insert(message("m", at: 1)) }
    #expect(try names.nextIfThere() == nil)
  }

  @Test func profilesAreExportedAndRestored() throws {
    let store = try memoryStore()
    try store.write { chat throws in
      try chat.receive(profile("zoe", "Zoë \"Z\"", 7, at: 1_500, picture: "p"))
      try chat.insert(message("m", at: 10, from: "ann"))
      try chat.receive(profile("me", ""))
      try chat.receive(profile("ann", "gone", 4, at: 2_000))
      try chat.forgetMember("ann")
    }
    let lines = try store.lines()
    let text = String(decoding: lines, as: UTF8.self)
    #expect(
      text.contains(
        #"{"kind":"member","id":"ann","version":4,"fetched_ms":2,"forgotten":true}"#))
    #expect(
      text.contains(
        #"{"kind":"member","id":"zoe","name":"Zoë \"Z\"","picture":"p","version":7,"#
          + #""fetched_ms":1.5}"#))
    let restored = try MessageStore.restored(from: lines)
    #expect(try restored.lines() == lines)
    let profiles = try restored.read { try $0.profiles() }
    #expect(profiles.count == 2)
    try restored.expectSound()
    let scope = ExportScope(conversation: "room")
    #expect(!String(decoding: try store.lines(of: scope), as: UTF8.self).contains("member\",\"id"))
  }

  @Test func aForgottenProfileThatHasANameIsRestoredWithoutIt() throws {
    let lines = #"{"kind":"member","id":"ann","name":"Ann","forgotten":true}"# + "\n"
    let store = try MessageStore.restored(from: Array(lines.utf8))
    let profile = try store.read { try $0.profile(of: "ann") }
    #expect(profile == nil)
    #expect(!String(decoding: try store.lines(), as: UTF8.self).contains("Ann\""))
    try store.expectSound()
  }

  @Test func aLineWithTooLongANameIsRefused() throws {
    let name = String(repeating: "n", count: 2_000)
    #expect(throws: StoreToolError.self) {
      try MessageStore.restored(from: Array(#"{"kind":"member","id":"a","name":"\#(name)"}"#.utf8))
    }
  }

  @Test func aSalvageSavesProfiles() throws {
    let directory = MemoryDirectory()
    let store = try memoryStore(directory)
    try store.write { chat throws in
      for index in 0..<300 {
        try chat.receive(profile(MemberID("member \(index)"), "Name \(index)", Int64(index)))
      }
      try chat.forgetMember("member 7")
    }
    let lines = try store.lines()
    try store.close()
    let report = try MessageSalvage(PageSalvage(in: directory, name: "store"))
      .run(in: directory, name: "new")
    #expect(report.lostRecordCount == 0)
    let saved = try MessageStore(in: directory, name: "new", options: StoreOptions())
    #expect(try saved.lines() == lines)
    try saved.expectSound()
  }

  @Test func aCheckReportsMalformedProfiles() throws {
    let directory = MemoryDirectory()
    let store = try memoryStore(directory)
    try store.write { chat in _ = try chat.receive(profile("ann", "Ann")) }
    try store.close()
    let cells: [(key: [UInt8], value: [UInt8])] = [
      ([0, 0, 0, 9], [1, 0, 0]), ([0, 0, 0, 2], [7]), ([5], [1, 0, 0]),
    ]
    try directory.plant(in: "store") { source in
      for cell in cells {
        try Bytes.with(cell.key) { (key) throws(PageFileError) in
          try Bytes.with(cell.value) { (value) throws(PageFileError) in
            _ = try BTree(source, Schema.directory).insert(key, value)
          }
        }
      }
    }
    let damaged = try memoryStore(directory)
    let findings = try damaged.check().map(\.description)
    #expect(findings.count == 3, "\(findings)")
    #expect(findings.contains { $0.contains("malformed key") })
    #expect(throws: StoreError.self) { _ = try damaged.read { try $0.profiles() } }
  }
}
