import MsgStore

/// An attachment: the facts about the file, and the progress of its transfers.
extension ExportedAttachment: JSONObjectValue {
  static var noun: String { "an attachment" }

  init() { self.init(MessageAttachment(id: "", kind: .other)) }

  mutating func visit(_ fields: inout some JSONFieldVisitor) throws(StoreToolError) {
    try fields.required("id", &attachment.id)
    try fields.optional("kind", &attachment.kind, assumed: .other)
    try fields.optional("index", &index)
    try fields.optional("remote_url", &attachment.remoteURL)
    try fields.optional("remote_url_ms", &attachment.remoteURLAt)
    try fields.optional("thumbnail_url", &attachment.thumbnailURL)
    try fields.optional("thumbnail_url_ms", &attachment.thumbnailURLAt)
    try fields.optional("local_path", &attachment.localPath)
    try fields.optional("file_name", &attachment.fileName)
    try fields.optional("mime_type", &attachment.mimeType)
    try fields.bytes("content_hash", &attachment.contentHash)
    try fields.bytes("preview", &attachment.preview)
    try fields.optional("byte_count", &attachment.byteCount)
    var duration = attachment.durationMicroseconds.map(JSONMilliseconds.init)
    try fields.optional("duration_ms", &duration)
    attachment.durationMicroseconds = duration?.microseconds
    try fields.optional("width", &attachment.width)
    try fields.optional("height", &attachment.height)
    try fields.optional("upload", &upload, assumed: .notRequested)
    try fields.optional("failed_uploads", &failedUploadCount, assumed: 0)
    try fields.optional("download", &download, assumed: .notRequested)
    try fields.optional("failed_downloads", &failedDownloadCount, assumed: 0)
    try fields.optional("unconfirmed", &unconfirmed, assumed: [])
  }
}

/// The names of fields, in their order.
extension AttachmentFields: JSONValue {
  private static let names = [
    "remote_url", "thumbnail_url", "local_path", "file_name", "mime_type", "content_hash",
    "preview", "byte_count", "duration_ms", "width", "height", "kind",
  ]

  init(_ scanner: inout JSONScanner) throws(StoreToolError) {
    let place = scanner.mark()
    self = []
    for name in try [String](&scanner) {
      guard let index = Self.names.firstIndex(of: name) else {
        throw scanner.error("an attachment has no field \"\(name)\"", at: place)
      }
      insert(AttachmentFields(rawValue: 1 << index))
    }
  }

  func append(to bytes: inout [UInt8]) {
    let names = Self.names.enumerated().filter { index, _ in rawValue & 1 << index != 0 }
    names.map(\.element).append(to: &bytes)
  }
}

extension JSONFieldVisitor {
  /// Visits bytes that may be missing.
  mutating func bytes(_ name: String, _ value: inout [UInt8]?) throws(StoreToolError) {
    var bytes = value.map(JSONBytes.init)
    try optional(name, &bytes)
    value = bytes?.bytes
  }
}

extension AttachmentTransfer: JSONValue {
  init(_ scanner: inout JSONScanner) throws(StoreToolError) {
    let object = try JSONTransfer(&scanner)
    self =
      switch object.state {
      case .none: .notRequested
      case .queued: .queued
      case .running: .running(doneByteCount: max(0, object.doneByteCount))
      case .done: .done
      case .failed:
        .failed(object.failure ?? SendFailure(.other), count: Int(clamping: max(0, object.count)))
      }
  }

  func append(to bytes: inout [UInt8]) {
    var object = JSONTransfer()
    switch self {
    case .notRequested: break
    case .queued: object.state = .queued
    case .running(let doneByteCount):
      object.state = .running
      object.doneByteCount = doneByteCount
    case .done: object.state = .done
    case .failed(let failure, let count):
      object.state = .failed
      object.failure = failure
      object.count = Int64(count)
    }
    object.append(to: &bytes)
  }
}

/// The progress of a transfer in one direction.
private struct JSONTransfer: JSONObjectValue {
  static let noun = "a transfer"

  enum State: String, JSONName, CaseIterable {
    case none, queued, running, done, failed
    static let noun = "state of a transfer"
    var name: String { rawValue }
  }

  var state = State.none
  var doneByteCount: Int64 = 0
  var failure: SendFailure?
  var count: Int64 = 0

  mutating func visit(_ fields: inout some JSONFieldVisitor) throws(StoreToolError) {
    try fields.required("state", &state)
    try fields.optional("done_byte_count", &doneByteCount, assumed: 0)
    try fields.optional("failure", &failure)
    try fields.optional("count", &count, assumed: 0)
  }
}

extension SendFailure: JSONValue {
  init(_ scanner: inout JSONScanner) throws(StoreToolError) {
    let object = try JSONFailure(&scanner)
    self.init(object.kind, code: object.code, text: object.text)
  }

  func append(to bytes: inout [UInt8]) {
    JSONFailure(kind: kind, code: code, text: text).append(to: &bytes)
  }
}

/// The reason of a failure.
private struct JSONFailure: JSONObjectValue {
  static let noun = "a failure"
  var kind = FailureKind.other
  var code: Int64?
  var text = ""

  init() {}

  init(kind: FailureKind, code: Int64?, text: String) {
    self.kind = kind
    self.code = code
    self.text = text
  }

  mutating func visit(_ fields: inout some JSONFieldVisitor) throws(StoreToolError) {
    try fields.required("kind", &kind)
    try fields.optional("code", &code)
    try fields.optional("text", &text, assumed: "")
  }
}
