import Simulation

/// One call, or a few that belong together, of one thread.
///
/// Its numbers say of which keys, and how long their values are; where they mean nothing they are
/// ignored.
struct Act: Sendable, Hashable {
  var verb: Verb
  var first = 0
  var count = 1
  var byteCount = 40

  enum Verb: String, CaseIterable, Sendable {
    /// Commits that write or remove keys, at `full` or `relaxed`.
    case put, putRelaxed, remove, erase
    /// A transaction that changes as much and is rolled back.
    case rollback
    /// A transaction in which the database is let go of before it is committed, or rolled back.
    case putAndLetGo, rollbackAndLetGo
    /// Reads that see one moment: a few keys, or all in one bracket.
    case get, walk
    /// A reader that stays: it begins, reads, and ends.
    case hold, reread, drop
    /// Readers beside the owner.
    case getBeside, closeBeside
    case checkpoint, compact, check
    case suspend, suspendAsItIs, resume, close
  }

  var keys: Range<Int> { first..<first + count }

  /// About how many pages a change makes.
  var pageCount: Int { count * (1 + byteCount / 1000) + 8 }

  var words: String { "\(verb.rawValue).\(first).\(count).\(byteCount)" }

  init(_ verb: Verb, _ first: Int = 0, _ count: Int = 1, _ byteCount: Int = 40) {
    self.verb = verb
    self.first = first
    self.count = count
    self.byteCount = byteCount
  }

  init?(words: Substring) {
    let parts = words.split(separator: ".")
    let numbers = parts.dropFirst().compactMap { Int($0) }
    guard parts.count == 4, numbers.count == 3, let verb = Verb(rawValue: String(parts[0])) else {
      return nil
    }
    self.init(verb, numbers[0], numbers[1], numbers[2])
  }
}

/// What is there in the beginning.
enum Beginning: String, CaseIterable, Sendable {
  /// A store without content, opened and not yet written to.
  case empty
  /// A few keys; closed, or as a killed process leaves it.
  case small, unclosed
  /// A page table of two levels, most of whose pages are free.
  case wide
}

/// What several threads do with one store, from some beginning on.
struct Plot: Sendable, Hashable {
  var beginning: Beginning
  var parts: [[Act]]
  /// Whether long writes are done in two.
  var splitsWrites = false
  /// At which call that changes the disk the power is cut for a copy of it; 0: at none.
  var cutCall = 0
  /// The file at whose locks many turns should change; not part of the words, as these come with a list of
  /// the changes.
  var favouredFile: String?

  var words: String {
    ([beginning.rawValue, splitsWrites ? "split" : "whole", "\(cutCall)"]
      + parts.map { $0.map(\.words).joined(separator: ",") }).joined(separator: "/")
  }

  init(_ beginning: Beginning, _ parts: [[Act]]) {
    self.beginning = beginning
    self.parts = parts
  }

  init?(words: some StringProtocol) {
    let fields = words.split(separator: "/", omittingEmptySubsequences: false)
    guard fields.count > 3, let beginning = Beginning(rawValue: String(fields[0])),
      let cutCall = Int(fields[2])
    else { return nil }
    self.init(beginning, [])
    splitsWrites = fields[1] == "split"
    self.cutCall = cutCall
    for field in fields.dropFirst(3) {
      var acts: [Act] = []
      for word in field.split(separator: ",") {
        guard let act = Act(words: Substring(word)) else { return nil }
        acts.append(act)
      }
      parts.append(acts)
    }
  }

  /// Calls that take something away or put something in its place, one after the other: a simpler
  /// plot may fail in the same way.
  var simpler: [Plot] {
    var all: [Plot] = []
    for index in parts.indices where parts.count > 1 {
      var plot = self
      plot.parts.remove(at: index)
      all.append(plot)
    }
    for part in parts.indices {
      for act in parts[part].indices {
        var plot = self
        plot.parts[part].remove(at: act)
        all.append(plot)
      }
    }
    for part in parts.indices {
      for act in parts[part].indices where parts[part][act].count > 1 {
        var plot = self
        plot.parts[part][act].count /= 2
        all.append(plot)
      }
    }
    return all
  }
}
