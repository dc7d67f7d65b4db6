import ArgumentParser

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// `msgstore-bench` measures the message store beside SQLite, and beside what the machine costs; built
/// with the trait `Peers`, beside GRDB and LMDB too.
///
/// Every engine gets the same messages and the same queries in the same order, and does the same
/// work; engines take turns; figures are medians over rounds, ratios are taken round by round.
/// Whatever is read is compared with what was written. The workloads, with what is one operation:
///
///     import             one message, in transactions of 500, relaxed
///     size               bytes on disk per message after import and checkpoint
///     tail50-huge        newest 50 of the thread that holds half of all messages
///     tail50-random      newest 50 of a random other thread
///     slice50            time until the newest 50 of the huge thread are in hand, untouched; ours only
///     scroll50           next older 50, walking the huge thread back from its end
///     at-date            50 messages around a random date of the huge thread
///     get-by-id          one message by its conversation and id
///     list20             the 20 conversations with the newest activity
///     open-tail50        open the store, read one tail, close it
///     memory             peak resident bytes of a process that opens the store and reads 10,000 tails;
///                        as memory-small, with the smallest cache
///     commit-full        one message and its conversation's summary, durable when it returns
///     commit-relaxed     the same, relaxed
///     acknowledge        a pending message gets its server timestamp and moves to its place
///     mark-read-1000     the newest 1000 messages of a thread have been read; SQLite keeps of each
///                        who has read it and when, as its users do
///     mark-read-1000-mark  the same, SQLite keeping one row for all of them, as we do
///     edit               a random message of the huge thread gets another text, the old one is kept
///     live-tail          from the commit of one new message to the new tail of 50 in the hands of who
///                        follows it; ours only
///     unread-total       what all of 10,000 conversations have unread; SQLite keeps it by a trigger
///     open-insert-close  open, insert one message at full durability, close
///     wal-size           WAL bytes per commit-full, over 20,000 commits
///     written            bytes written to any file per message, over 100,000 commits
///     send-visible       a message is stored and entered into the outbox, until it can be seen; ours
///                        only, as the next four
///     send-durable       the same until it is on the disk, beside a bare write and sync
///     send-busy          the same until it can be seen, while batches of 500 messages are stored
///     next-done-50       work is taken out of an outbox of 50 entries and finished, in one commit
///     next-done-5000     the same with 5,000 entries
///     scale              tail50-huge, commit-relaxed and edit at 10⁴, 10⁵, 10⁶ messages
@main
struct Bench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "msgstore-bench",
    abstract: "Measures the message store beside SQLite and what the machine itself costs.",
    subcommands: [Run.self, ReadTails.self], defaultSubcommand: Run.self)

  /// Every error is one line on standard error and ends with status 2.
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

  @Option(help: "How many messages to import (default: 100000, or all of the corpus).")
  var messages: Int?

  @Option(help: "How many conversations to spread them over, unless there is a corpus.")
  var conversations = 200

  @Option(help: "A file of JSON lines to take messages from.")
  var corpus: String?

  @Option(help: "Where to put the stores while they are measured (default: .build, or TMPDIR).")
  var directory: String?

  @Option(help: "Decides the messages and queries.")
  var seed: UInt64 = 1

  @Option(help: "How often each workload is measured.")
  var rounds = 5

  @Flag(help: "Lets `scale` go up to ten million messages.")
  var large = false

  @Option(help: "How many MiB the store has that memory is about (default: that of the others).")
  var memorySize: UInt64?

  @Option(
    help: ArgumentHelp(
      "A build without the peers, for memory: GRDB's libraries would count for all engines.",
      valueName: "program"))
  var normalProgram: String?

  @Option(help: "text, json or html (default: what the name of the output ends in, or text).")
  var format: Report.Format?

  @Option(
    help: ArgumentHelp(
      "A file for the report (default: standard output). Can be given more than once.",
      valueName: "file"))
  var output: [String] = []

  func validate() throws {
    for name in engines.names where EngineName(rawValue: name) == nil {
      throw ValidationError("there is no engine \(name)")
    }
    for name in workloads.names where !catalogue.contains(where: { $0.name == name }) {
      throw ValidationError("there is no workload \(name)")
    }
    guard (messages ?? .max) >= 1_000 else { throw ValidationError("--messages is at least 1000") }
    guard conversations >= 2 else { throw ValidationError("--conversations is at least 2") }
    for name in engines.names.compactMap(EngineName.init) {
      guard let owner = name.owner, !engines.names.contains(owner.rawValue) else { continue }
      throw ValidationError("\(name.rawValue) reads the store of \(owner.rawValue)")
    }
    guard rounds >= 1 else { throw ValidationError("--rounds is at least 1") }
  }

  func run() throws {
    let source: any Corpus
    var messageCount = messages ?? 100_000
    if let corpus {
      let file = try CorpusFile(path: corpus, limit: messages, seed: seed)
      messageCount = messages ?? file.count
      source = file
    } else {
      source = SyntheticCorpus(conversationCount: conversations, seed: seed)
    }
    let directory = try Files.makeTemporaryDirectory(in: parentDirectory)
    defer { Files.remove(directory) }
    let settings = Settings(
      engines: EngineName.allCases.filter { engines.names.contains($0.rawValue) },
      workloads: workloads.names, messageCount: messageCount, roundCount: rounds, seed: seed,
      isLarge: large, memoryByteCount: memorySize.map { $0 << 20 },
      normalProgram: normalProgram)
    let stage = try Stage(settings: settings, corpus: source, directory: directory)
    let figures = try stage.run()
    let report = Report(
      machine: Machine(directory: directory),
      settings: [
        ("corpus", .string(source.summary)), ("messages", .number(Double(messageCount))),
        ("conversations", .number(Double(source.conversations.count))),
        ("rounds", .number(Double(rounds))), ("seed", .number(Double(seed))),
      ], engines: stage.stores.engines.map { ($0.name, $0.settings) },
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

/// Names with commas between them.
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
