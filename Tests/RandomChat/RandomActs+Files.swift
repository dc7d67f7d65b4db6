import MsgStore
import Simulation

/// The files of attachments on this device.
extension RandomActs {
  mutating func path() -> String { "/tmp/\(below(9))" }

  /// An attachment gets a file, another one, or none; or files were removed that nothing needs.
  mutating func file(of id: MessageID, in c: ConversationID) -> RandomAct {
    if confirmsFiles, random.chance(20) {
      let count = below(3)
      return RandomAct("confirmRemoval of \(count) files") { w throws(StoreError) in
        let files = try w.unneededFiles(count: 50).sorted()
        return try w.confirmRemoval(ofFiles: Array(files.prefix(count)))
      }
    }
    let (path, attachment) = (random.chance(20) ? nil : path(), "x\(below(3))")
    return RandomAct("setLocalPath of \(attachment) of \(id) in \(c) to \(path ?? "-")") {
      w throws(StoreError) in
      try w.setLocalPath(path, of: attachment, message: id, in: c)
    }
  }
}
