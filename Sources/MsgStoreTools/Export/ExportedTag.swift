package import MsgStore

/// A tag that was set on a message, or removed.
package struct ExportedTag: Sendable, Equatable {
  package var tag = MessageTag.pinned
  package var time = Timestamp(microseconds: 0)
  package var isRemoved = false

  package init() {}

  init(_ tag: MessageTag, _ record: TagRecord) {
    self.tag = tag
    time = Timestamp(microseconds: record.time)
    isRemoved = record.isRemoved
  }
}

extension MessageTag {
  /// The beginning of the name of a tag of the client's own.
  static let ownNamePrefix = "own:"

  /// The name in exports; one of the client's own has a prefix.
  package var name: String {
    switch self {
    case .image: "image"
    case .video: "video"
    case .audio: "audio"
    case .file: "file"
    case .link: "link"
    case .mention: "mention"
    case .pinned: "pinned"
    case .starred: "starred"
    case .own(let name): Self.ownNamePrefix + name
    }
  }
}
