import ArgumentParser
import MsgStore
import MsgStoreTools

/// Copies everything readable of a damaged store into a new one.
struct SalvageCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "salvage",
    abstract: "Copies everything readable of a damaged store into a new one and lists the losses.",
    discussion: """
      The damaged files are read, and stay as they are. The new store is built beside its place, \
      under a name that ends with .salvaging, and gets its own name when it is complete. The exit \
      status is 1 when something is lost.
      """)

  @Argument(help: "The damaged store's data file.", completion: .file())
  var damaged: String

  @Argument(help: "The data file of the store to make.", completion: .file())
  var new: String

  @OptionGroup var key: KeyOptions

  func run() throws {
    let encryption = try key.encryption()
    let summary = try Progress.showing("reading pages") { progress in
      try MessageStore.salvage(
        damaged: damaged, to: new, encryption: encryption, watch: System.removeWhenInterrupted
      ) {
        if $0.stage == .saving { progress.begin("saving") }
        progress.tell($0.pageCount, of: $0.totalPageCount)
      }
    }
    let output = Output()
    for line in summary.lines { try output.line(line) }
    try output.flush()
    if !summary.isWhole { throw MsgDump.findings }
  }
}
