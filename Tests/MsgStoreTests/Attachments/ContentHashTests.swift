import MsgStore
import PageFile
import Simulation
import Testing

/// Finding the same file again, and forgetting it.
struct ContentHashTests {
  private func carrier(_ id: MessageID, _ attachment: MessageAttachment, at time: Int64 = 10)
    -> Message
  {
    var message = message(id, at: time, text: "")
    message.attachments = [attachment]
    return message
  }

  @Test func theSameContentHashIsFoundAgain() throws {
    let store = try memoryStore()
    let hash = Array(repeating: UInt8(7), count: 32)
    let sent = MessageAttachment(id: "a", kind: .image, remoteURL: "u", contentHash: hash)
    let unsent = MessageAttachment(id: "a", kind: .image, contentHash: [5])
    try store.write {
      try $0.insert(carrier("m", sent))
      try $0.insert(carrier("n", sent))
      try $0.insert(carrier("o", unsent))
    }
    func found(_ hash: [UInt8]) throws -> AttachmentState? {
      try store.read { try $0.attachment(withContentHash: hash) }
    }
    #expect(try found(hash)?.attachment == sent && found(hash)?.message == "m")
    #expect(try found([5]) == nil, "nobody can fetch it")
    #expect(try found([]) == nil && found([7]) == nil)
    try store.write {
      try $0.receive(MessageAttachment(id: "a", kind: .other, remoteURL: "v"), of: "o", in: "room")
      #expect(try $0.attachment(withContentHash: [5])?.attachment.remoteURL == "v")
    }
    #expect(try found([5])?.message == "o")
    try store.write { try $0.delete("m", in: "room") }
    #expect(try found(hash)?.message == "n")
    try store.write { try $0.receiveRetraction(of: "n", in: "room") }
    #expect(try found(hash) == nil)
    try store.expectSound()
  }

  @Test func whatIsBeingTakenBackIsNotFound() throws {
    let store = try memoryStore()
    let sent = MessageAttachment(id: "a", kind: .image, remoteURL: "u", contentHash: [1])
    var own = carrier("m", sent, at: 1_000_000)
    own.sender = "me"
    try store.write {
      try $0.insert(own)
      try $0.retract("m", in: "room")
      #expect(try $0.attachment(withContentHash: [1]) == nil)
      try $0.refuseRetraction(of: "m", in: "room", because: SendFailure(.permission))
      #expect(try $0.attachment(withContentHash: [1])?.message == "m")
    }
    try store.expectSound()
  }

  private let marks = ["FILENAME-XQ", "REMOTE-XQ", "THUMB-XQ", "PATH-XQ", "HASH-XQ", "PREVIEW-XQ"]

  private func secret(_ round: Int) -> MessageAttachment {
    MessageAttachment(
      id: "a", kind: .document, remoteURL: "https://x/REMOTE-XQ", thumbnailURL: "THUMB-XQ",
      localPath: "/PATH-XQ", fileName: "FILENAME-XQ \(round)", contentHash: Array("HASH-XQ".utf8),
      preview: Array("PREVIEW-XQ".utf8), byteCount: 10)
  }

  @Test(arguments: [0, 1, 2, 3]) func metadataIsGoneFromAllFilesWithItsMessage(way: Int) throws {
    let directory = MemoryDirectory()
    let store = try memoryStore(directory)
    var own = carrier("m", secret(0), at: 1_000_000)
    own.sender = "me"
    if way == 3 { own.serverTimestamp = nil }
    try store.write { if way == 3 { try $0.send(own) } else { try $0.insert(own) } }
    try store.checkpoint()
    for round in 0..<5 {
      // Versions of the same pages in many places.
      try store.write {
        try $0.insert(message(MessageID("n\(round)"), at: 5))
        try $0.receive(secret(round), of: "m", in: "room")
        try $0.setTransfer(
          .upload, to: .running(doneByteCount: 1), of: "a", message: "m", in: "room")
      }
      try store.checkpoint()
    }
    for mark in marks { #expect(directory.holds(mark)) }
    try store.write {
      switch way {
      case 0: try $0.delete("m", in: "room")
      case 1: try $0.receiveRetraction(of: "m", in: "room")
      case 2:
        try $0.retract("m", in: "room")
        try $0.confirmRetraction(of: "m", in: "room")
      default: try $0.retract("m", in: "room")
      }
    }
    try store.checkpoint()
    // The client has to know the path until the file is gone, too.
    #expect(directory.holds("/PATH-XQ"))
    try store.write { _ = try $0.confirmRemoval(ofFiles: ["/PATH-XQ"]) }
    try store.checkpoint()
    for mark in marks { #expect(!directory.holds(mark), "\(mark)") }
    #expect(try store.read { try $0.runningTransfers() } == [])
    try store.expectSound()
  }
}
