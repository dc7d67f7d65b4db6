import ArgumentParser
import MsgStore

/// Lists the missing sequence numbers.
struct GapsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "gaps",
    abstract: "Lists the sequence numbers that are missing between known ones.")

  private static let batchCount = 500

  @OptionGroup var storeArgument: StoreArgument

  @Option(help: "The conversation to look at.")
  var conversation: String?

  func run() throws {
    let output = Output()
    let table = TextTable(
      .left("conversation", 20), .right("first", 20), .right("last", 20), .right("missing", 20))
    try output.line(table.header)
    try storeArgument.open().readOnce { snapshot in
      try snapshot.forEachConversation(named: conversation) { conversation in
        var last: Int64?
        repeat {
          let gaps = try snapshot.gaps(in: conversation.id, count: Self.batchCount, after: last)
          for gap in gaps {
            // The count of the whole range of numbers exceeds 64 bits.
            let count = UInt64(bitPattern: gap.upperBound &- gap.lowerBound) + 1
            try output.line(
              table.row([
                conversation.id.string.visible, "\(gap.lowerBound)", "\(gap.upperBound)",
                "\(count)",
              ]))
          }
          last = gaps.count < Self.batchCount ? nil : gaps.last?.upperBound
        } while last != nil
      }
    }
    try output.flush()
  }
}
