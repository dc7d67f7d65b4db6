import ArgumentParser
import MsgStore
import MsgStoreTools

/// Lists the missing sequence numbers.
struct GapsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "gaps",
    abstract: "Lists the sequence numbers that are missing between known ones.")

  private static let batchCount = 500

  @OptionGroup var storeArgument: StoreArgument
  @OptionGroup var options: ReportOptions

  @Option(help: "The conversation to look at.")
  var conversation: String?

  func run() throws {
    let report = options.begin()
    let rows = try report.table(
      nil, .name("conversation", 20), .number("first", 20), .number("last", 20),
      .number("missing", 20))
    try storeArgument.open().readOnce { snapshot in
      try snapshot.forEachConversation(named: conversation) { conversation in
        var last: Int64?
        repeat {
          let gaps = try snapshot.gaps(in: conversation.id, count: Self.batchCount, after: last)
          for gap in gaps {
            // The count of the whole range of numbers exceeds 64 bits.
            let count = UInt64(bitPattern: gap.upperBound &- gap.lowerBound) + 1
            try rows.add([
              .text(conversation.id.string), .number(gap.lowerBound), .number(gap.upperBound),
              .count(count),
            ])
          }
          last = gaps.count < Self.batchCount ? nil : gaps.last?.upperBound
        } while last != nil
      }
    }
    try report.flush()
  }
}
