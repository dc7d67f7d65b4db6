import ArgumentParser
import MsgStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// `msgstore-bench` measures the message store beside SQLite, and beside the cost of the machine
/// itself.
///
/// Built with the trait `Peers`, it also measures GRDB and LMDB.
///
/// Every engine gets the same messages and the same queries in the same order, and does the same
/// work. Engines take turns. Figures are medians over rounds, and ratios are taken round by round.
/// Every read is compared with the messages written. The workloads, each with its unit of
/// operation:
///
///     import             one message, in transactions of 500, relaxed
///     size               bytes on disk per message after import and checkpoint
///     compact            compacting a store after an import, per message; as size-compact, the
///                        bytes on disk per message after that
///     backfill           one older message of the longest thread, in 1,000 pages of 100 that are
///                        fetched backwards, each a relaxed transaction
///     initial-sync       one message of the newest 20 of 10,000 conversations, relaxed
///     small-store        bytes on disk of a store of 1,000 messages
///     tiny-threads       bytes on disk per message of 7,600 threads of 2 or 3
///     tail50-huge        newest 50 of the thread that holds half of all messages
///     tail50-random      newest 50 of a random other thread
///     slice50            time until the newest 50 of the huge thread are in hand, untouched; ours
///                        only
///     scroll50           next older 50, walking the huge thread back from its end
///     at-date            50 messages around a random date of the huge thread
///     get-by-id          one message by its conversation and id
///     replies20          newest 20 of 30 answers to a message of the huge thread, which follow it
///                        closely; SQLite has an index of replies, here only
///     replies20-spread   the same with answers spread over the huge thread
///     gallery50          newest 50 images of a thread of 100,000 messages, of which five percent
///                        are images; SQLite has an index of images, here only
///     list20             the 20 conversations with the newest activity
///     open-tail50        open the store, read one tail, close it
///     cold-open-tail50   the same with nothing of the store in the operating system's cache: bytes
///                        fetched; as cold-older50 the 50 before, as cold-get-by-id one message,
///                        and as -pages the pages asked for
///     memory             peak resident bytes of a process that opens the store and reads 10,000
///                        tails; as memory-small, with the smallest cache
///     commit-full        one message and its conversation's summary, durable on return
///     commit-relaxed     the same, relaxed
///     acknowledge        a pending message gets its server timestamp and moves to its place
///     mark-read-1000     the newest 1000 messages of a thread are marked as read; SQLite records
///                        for each message who has read it and when, as its users do
///     mark-read-1000-mark  the same, with SQLite keeping one row for all of them, as we do
///     edit               a random message of the huge thread gets another text; the old one is
///                        kept
///     live-tail          from the commit of one new message until a follower has the new tail of
///                        50; ours only
///     unread-total       the unread messages of all of 10,000 conversations; SQLite keeps the sum
///                        by a trigger
///     open-insert-close  open, insert one message at full durability, close
///     wal-size           WAL bytes per commit-full, over 20,000 commits
///     written            bytes written to any file per message, over 100,000 commits;
///                        as written-calls, the read and write calls
///     send-visible       a message is stored and entered into the outbox, until it is visible;
///                        ours only, like the next four
///     send-durable       the same until it is on the disk, beside a bare write and sync
///     send-busy          the same until it is visible, while batches of 500 messages are stored
///     next-done-50       work is taken from an outbox of 50 entries and finished, in one commit
///     next-done-5000     the same with 5,000 entries
///     expire10000        the longest commit while 10,000 messages at the end of a thread expire at
///                        once; as -read, the longest read of the newest 50 meanwhile; ours only
///     prune90            the longest commit while the newest tenth of each large conversation is
///                        kept; as -steps, the commits that it takes; as -size, the bytes after
///                        compaction, divided by those of a new store of the remaining messages;
///                        ours only
///     search-common      newest 20 with a frequent word, beside SQLite's LIKE with and without an
///                        index on time, and FTS5 with words and with trigrams; as -recall, the
///                        share found of the messages with the word
///     search-rare        the same with a word that one message in 1,000 has
///     search-none        the same with a word that occurs nowhere
///     search-conversation  newest 20 of the huge thread with a word that one in 1,000 has there
///     search-index       bytes a message of what only the search needs; as search-import, one
///                        message of an import; as search-recall, the share found of messages with
///                        a part of a text of 1 to 12 characters
///     day                a busy user's day in one process: CPU time, bytes, calls; see DayScript
///     scale              tail50-huge, commit-relaxed and edit at 10⁴, 10⁵, 10⁶ messages
@main
struct Bench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "msgstore-bench",
    abstract: "Measures the message store beside SQLite and the cost of the machine itself.",
    version: "msgstore-bench \(MessageStore.version)",
    subcommands: [Run.self, ReadTails.self, ReadCold.self, RunDay.self, CountCorpus.self],
    defaultSubcommand: Run.self)

  /// Prints every error as one line on standard error and exits with status 2.
  static func main() {
    do {
      var command = try parseAsRoot()
      try command.run()
    } catch {
      let isFailure = exitCode(for: error) != .success
      guard isFailure else { exit(withError: error) }
      let message = message(for: error).split(separator: "\n").first ?? "failed"
      Progress.say("msgstore-bench: \(message)\n")
      Bench.exit(withError: ExitCode(2))
    }
  }
}

struct Run: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Runs workloads and prints tables, JSON or a page with plots.",
    discussion: "Workloads: " + catalogue.map(\.name).joined(separator: ", "))

  @Option(help: "Engines, separated by commas.")
  var engines = NameList(EngineName.allCases.map(\.rawValue))

  @Option(help: ArgumentHelp("Workloads, separated by commas.", valueName: "names"))
  var workloads = NameList(catalogue.map(\.name))

  @Option(help: "The number of messages to import (default: 100000, or all of the corpus).")
  var messages: Int?

  @Option(
    help: "The number of conversations without a corpus (default: one for 18.5 messages).")
  var conversations: Int?

  @Flag(help: "Makes up messages without mentions, reactions, attachments and edits.")
  var plainMessages = false

  @Option(help: "A file of JSON lines to take messages from.")
  var corpus: String?

  @Flag(help: "A few messages of the corpus file arrive late, as of those made up.")
  var lateArrivals = false

  @Option(help: "The directory for the stores during the run (default: .build, or TMPDIR).")
  var directory: String?

  @Option(help: "The seed that determines the messages and queries.")
  var seed: UInt64 = 1

  @Option(help: "The number of rounds for each workload.")
  var rounds = 5

  @Flag(help: "Lets `scale` go up to ten million messages.")
  var large = false

  @Option(help: "The size in MiB of the store for `memory` (default: the size of the others).")
  var memorySize: UInt64?

  @Option(
    help: ArgumentHelp(
      "A build without the peers, for `memory`: GRDB's libraries would count for all engines.",
      valueName: "program"))
  var normalProgram: String?

  @Option(help: "text, json or html (default: by the extension of the output file, or text).")
  var format: Report.Format?

  @Option(
    help: ArgumentHelp(
      "A file for the report (default: standard output). May be repeated.",
      valueName: "file"))
  var output: [String] = []

  func validate() throws {
    for name in engines.names where EngineName(rawValue: name) == nil {
      throw ValidationError("unknown engine: \(name)")
    }
    for name in workloads.names where !catalogue.contains(where: { $0.name == name }) {
      throw ValidationError("unknown workload: \(name)")
    }
    guard (messages ?? .max) >= 1_000 else { throw ValidationError("--messages: at least 1000") }
    guard (conversations ?? .max) >= 1 else { throw ValidationError("--conversations: at least 1") }
    for name in engines.names.compactMap(EngineName.init) {
      guard let owner = name.owner, !engines.names.contains(owner.rawValue) else { continue }
      throw ValidationError("\(name.rawValue): needs \(owner.rawValue), whose store it reads")
    }
    guard rounds >= 1 else { throw ValidationError("--rounds: at least 1") }
  }

  func run() throws {
    let source: any Corpus
    var messageCount = messages ?? 100_000
    if let corpus {
      var file = try CorpusFile(path: corpus, limit: messages, seed: seed)
      file.hasLateArrivals = lateArrivals
      messageCount = messages ?? file.count
      source = file
    } else {
      source = SyntheticCorpus(
        conversationCount: conversations ?? SyntheticCorpus.conversationCount(for: messageCount),
        seed: seed, hasExtras: !plainMessages)
    }
    let directory = try Files.makeTemporaryDirectory(in: parentDirectory)
    defer { Files.remove(directory) }
    let chosen = EngineName.allCases.filter { engines.names.contains($0.rawValue) }
    let settings = Settings(
      engines: chosen.filter { !$0.isForSearch }, searchEngines: chosen.filter(\.isForSearch),
      workloads: workloads.names, messageCount: messageCount, roundCount: rounds, seed: seed,
      isLarge: large, memoryByteCount: memorySize.map { $0 << 20 }, corpusPath: corpus,
      hasExtras: !plainMessages, normalProgram: normalProgram)
    var machine = Machine(directory: directory)
    machine.load = Machine.load()
    let stage = try Stage(settings: settings, corpus: source, directory: directory)
    let figures = try stage.run()
    let report = Report(
      machine: machine,
      settings: [
        ("corpus", .string(source.summary)), ("messages", .number(Double(messageCount))),
        ("conversations", .number(Double(source.conversations.count))),
        ("rounds", .number(Double(rounds))), ("seed", .number(Double(seed))),
      ], engines: stage.engines.map { ($0.name, $0.settings) },
      summaries: summaries,
      figures: figures)
    for path in output {
      let ending = path.split(separator: ".").last.map(String.init) ?? ""
      try Files.write(report.text(as: format ?? Report.Format(rawValue: ending) ?? .text), to: path)
    }
    if output.isEmpty { print(report.text(as: format ?? .text), terminator: "") }
  }

  private var parentDirectory: String {
    if let directory { return directory }
    if Files.isDirectory(".build") { return ".build" }
    return unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
  }
}

/// A list of names separated by commas.
struct NameList: ExpressibleByArgument {
  var names: [String]

  init(_ names: [String]) {
    self.names = names
  }

  init?(argument: String) {
    names = argument.split(separator: ",").map(String.init)
    if names.isEmpty { return nil }
  }

  var defaultValueDescription: String { "all" }
}
