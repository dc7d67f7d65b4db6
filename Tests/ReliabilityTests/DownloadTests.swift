import ChatClient
import Foundation
import MsgStore
import Simulation
import Synchronization
import Testing

/// Downloads that break, begin anew, or fail: each ends whole or with its reason.
struct DownloadTests {
  private let world: World
  private let ann: ChatClient
  private let bob: ChatClient

  private static let pieceByteCount = 256 << 10
  /// The length of each file: three pieces, of which the last one is shorter.
  private static let byteCount = pieceByteCount * 5 / 2

  init() throws {
    world = try World()
    ann = try world.client("ann")
    bob = try world.client("bob")
  }

  @Test func aDownloadThatBreaksGoesOnAndIsWhole() async throws {
    let room = try await world.room(ann, bob)
    let (id, content) = try await share("film", in: room)
    let pieces = Pieces()
    pieces.watch(world.server) { $0 == 2 ? .loseRequest : $0 == 4 ? .loseAnswer : nil }
    try await bob.requestDownload(try shared(id, in: room))
    #expect(try await !bob.sync())
    // The app ends meanwhile, and goes on with the part.
    try await bob.store.close()
    let again = try world.client("bob")
    #expect(try shared(id, in: room, by: again).download == .queued)
    #expect(try await !again.sync())
    #expect(try await again.sync())
    #expect(pieces.offsets == [0, 1, 1, 2, 2].map { $0 * Self.pieceByteCount })
    try expectWhole(content, of: id, in: room, by: again)
  }

  @Test func aPartThatIsTooLongBeginsAnew() async throws {
    let room = try await world.room(ann, bob)
    let (id, content) = try await share("film", in: room)
    let pieces = Pieces()
    pieces.watch(world.server) { $0 == 2 ? .loseRequest : nil }
    try await bob.requestDownload(try shared(id, in: room))
    #expect(try await !bob.sync())
    let part = try #require(try parts().first)
    try Data(count: Self.byteCount + 1).write(to: URL(fileURLWithPath: part))
    #expect(try await bob.sync())
    #expect(pieces.offsets == [0, 1, 0, 1, 2].map { $0 * Self.pieceByteCount })
    try expectWhole(content, of: id, in: room)
  }

  @Test func aWholeFileOfAnotherLengthIsFetchedAgain() async throws {
    let room = try await world.room(ann, bob)
    let (id, content) = try await share("film", in: room)
    try await bob.requestDownload(try shared(id, in: room))
    #expect(try await bob.sync())
    let state = try shared(id, in: room)
    let path = try #require(state.attachment.localPath)
    for wrong in [Data(), Data(count: Self.byteCount + 1)] {
      try wrong.write(to: URL(fileURLWithPath: path))
      // A finished download stays finished unless it starts over.
      try await bob.store.write { chat in
        _ = try chat.setTransfer(
          .download, to: .notRequested, of: state.attachment.id, message: id, in: room)
      }
      try await bob.requestDownload(state)
      #expect(try await bob.sync())
      try expectWhole(content, of: id, in: room)
    }
  }

  @Test func aDownloadThatFailsHasItsReasonAndTheOthersGoOn() async throws {
    let room = try await world.room(ann, bob)
    let (blocked, blockedContent) = try await share("blocked", in: room)
    let (refused, refusedContent) = try await share("refused", in: room)
    let (wrong, _) = try await share("wrong", told: Int64(Self.byteCount - 1), in: room)
    let (good, goodContent) = try await share("good", in: room)
    // A directory in the place of the part cannot be written.
    world.server.setFault { $0.download == nil ? nil : .loseRequest }
    try await bob.requestDownload(try shared(blocked, in: room))
    #expect(try await !bob.sync())
    let part = try #require(try parts().first)
    try FileManager.default.removeItem(atPath: part)
    try FileManager.default.createDirectory(atPath: part, withIntermediateDirectories: false)
    let url = try #require(try shared(refused, in: room).attachment.remoteURL)
    world.server.setFault { $0.download?.url == url ? .refuse(.permission) : nil }
    for id in [refused, wrong, good] {
      try await bob.requestDownload(try shared(id, in: room))
    }

    #expect(try await bob.sync())
    #expect(try shared(blocked, in: room).download.failure?.kind == .other)
    #expect(
      try shared(refused, in: room).download.failure
        == SendFailure(.permission, text: "the server was told to refuse this"))
    #expect(try shared(wrong, in: room).download.failure?.kind == .invalid)
    try expectWhole(goodContent, of: good, in: room)

    // Nothing is tried again until somebody asks for it.
    world.server.setFault { _ in nil }
    try FileManager.default.removeItem(atPath: part)
    #expect(try await bob.sync())
    #expect(try shared(refused, in: room).download.failure != nil)
    for id in [blocked, refused] { try await bob.requestDownload(try shared(id, in: room)) }
    #expect(try await bob.sync())
    try expectWhole(blockedContent, of: blocked, in: room)
    try expectWhole(refusedContent, of: refused, in: room)
  }

  @Test func aFileOfUnknownLengthComesWhole() async throws {
    let room = try await world.room(ann, bob)
    let (id, content) = try await share("film", told: nil, in: room)
    #expect(try shared(id, in: room).attachment.byteCount == nil)
    let pieces = Pieces()
    pieces.watch(world.server) { $0 == 2 ? .loseAnswer : nil }
    try await bob.requestDownload(try shared(id, in: room))
    #expect(try await !bob.sync())
    #expect(try await bob.sync())
    #expect(pieces.offsets == [0, 1, 1, 2].map { $0 * Self.pieceByteCount })
    try expectWhole(content, of: id, in: room)
  }

  /// Sends a file from Ann to Bob in a message of its own.
  ///
  /// - Parameter byteCount: The length that the message tells.
  private func share(
    _ name: String, told byteCount: Int64? = Int64(Self.byteCount), in room: ConversationID
  ) async throws -> (id: MessageID, content: Data) {
    var random = SeededRandom(seed: name.utf8.reduce(0) { $0 + UInt64($1) })
    let content = Data((0..<Self.byteCount).map { _ in UInt8(random.below(256)) })
    let path = world.path(name)
    try content.write(to: URL(fileURLWithPath: path))
    let file = MessageAttachment(
      id: name, kind: .document, localPath: path, fileName: name, byteCount: byteCount)
    let id = try ann.say(name, in: room, attachments: [file]).value.id
    try await world.settle(ann, bob)
    return (id, content)
  }

  /// Returns the file of a message as Bob has it.
  private func shared(
    _ id: MessageID, in room: ConversationID, by client: ChatClient? = nil
  ) throws -> AttachmentState {
    let store = (client ?? bob).store
    return try #require(try store.read { try $0.attachments(of: id, in: room) }.first)
  }

  /// Expects that Bob has the whole file of a message, and no part of it.
  private func expectWhole(
    _ content: Data, of id: MessageID, in room: ConversationID, by client: ChatClient? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let state = try shared(id, in: room, by: client)
    #expect(state.download == .done, sourceLocation: sourceLocation)
    let path = try #require(state.attachment.localPath, sourceLocation: sourceLocation)
    let found = try Data(contentsOf: URL(fileURLWithPath: path))
    // Only the answer: a difference of bytes would be pages.
    let isSame = found == content
    #expect(isSame, sourceLocation: sourceLocation)
    #expect(!FileManager.default.fileExists(atPath: path + ".part"), sourceLocation: sourceLocation)
  }

  /// Returns the paths of Bob's unfinished files.
  private func parts() throws -> [String] {
    let directory = world.path("bob") + "-files"
    return try FileManager.default.contentsOfDirectory(atPath: directory)
      .filter { $0.hasSuffix(".part") }.map { directory + "/" + $0 }
  }
}

/// A record of the pieces that clients ask a server for.
private final class Pieces: Sendable {
  private let asked = Mutex<[Int]>([])

  /// The places of all pieces, in the order of the requests.
  var offsets: [Int] { asked.withLock { $0 } }

  /// Records each request from now on, and says what goes wrong by its number from 1 on.
  func watch(
    _ server: PretendServer, fault: @escaping @Sendable (Int) -> PretendServer.Fault?
  ) {
    server.setFault { [self] request in
      guard let offset = request.download?.offset else { return nil }
      let number = asked.withLock {
        $0.append(offset)
        return $0.count
      }
      return fault(number)
    }
  }
}

extension Request {
  fileprivate var download: (url: String, offset: Int)? {
    guard case .downloadPiece(let url, let offset, _) = call else { return nil }
    return (url, offset)
  }
}

extension AttachmentTransfer {
  fileprivate var failure: MsgStore.SendFailure? {
    guard case .failed(let failure, _) = self else { return nil }
    return failure
  }
}
