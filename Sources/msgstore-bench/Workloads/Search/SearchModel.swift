import MsgStore
import PageFile

/// A search that is slow and plain: each text is folded as a whole, and compared unit by unit.
struct SearchModel {
  /// The messages with a term.
  struct Matches {
    private(set) var count = 0
    /// The number of those whose texts have it, and not only the name of a file.
    private(set) var textCount = 0
    /// The newest of them, newest first.
    private(set) var newest: [ChatMessage] = []
    private(set) var newestInConversation: [ChatMessage] = []

    fileprivate mutating func add(_ message: ChatMessage, isText: Bool, isInConversation: Bool) {
      count += 1
      textCount += isText ? 1 : 0
      Self.insert(message, into: &newest)
      if isInConversation { Self.insert(message, into: &newestInConversation) }
    }

    private static func insert(_ message: ChatMessage, into newest: inout [ChatMessage]) {
      let index = newest.lastIndex { isNewer($0, than: message) }.map { $0 + 1 } ?? 0
      guard index < Search.count else { return }
      newest.insert(message, at: index)
      if newest.count > Search.count { newest.removeLast() }
    }

    /// The order of a search: by time, then by conversation, then by sequence.
    private static func isNewer(_ a: ChatMessage, than b: ChatMessage) -> Bool {
      (a.serverTime ?? 0, a.conversation, a.sequence ?? 0)
        > (b.serverTime ?? 0, b.conversation, b.sequence ?? 0)
    }
  }

  /// A term, in the forms that texts are compared in.
  private struct Term {
    let strict: [UInt32]
    let ascii: [UInt8]
    /// True if the term loses nothing by the loose fold.
    let isLoose: Bool

    init(_ text: String) {
      strict = SearchModel.folded(text, isLoose: false)
      ascii = SearchModel.lowercasedASCII(text)
      isLoose = SearchModel.folded(text, isLoose: true) == strict
    }
  }

  private let conversation: Int
  private var terms: [String: Term] = [:]
  /// The matches by our rules.
  private(set) var matches: [String: Matches] = [:]
  /// The matches of an engine that folds ASCII alone.
  private(set) var matchesOfASCII: [String: Matches] = [:]

  /// Searches a corpus for terms, in all of it and in one conversation.
  init(_ corpus: any Corpus, messageCount: Int, conversation: Int, terms texts: [String]) {
    self.conversation = conversation
    for text in texts {
      terms[text] = Term(text)
      matches[text] = Matches()
      matchesOfASCII[text] = Matches()
    }
    var stream = corpus.makeStream()
    for _ in 0..<messageCount { add(stream.next()) }
  }

  private mutating func add(_ message: ChatMessage) {
    let isInConversation = message.conversation == conversation
    let texts = [message.text] + (message.extras?.attachments.compactMap(\.fileName) ?? [])
    let loose = texts.map { Self.folded($0, isLoose: true) }
    let strict = texts.map { Self.folded($0, isLoose: false) }
    let ascii = Self.lowercasedASCII(message.text)
    for (text, term) in terms {
      if let first = (term.isLoose ? loose : strict).firstIndex(where: {
        Self.has(term.strict, in: $0)
      }) {
        matches[text]?.add(message, isText: first == 0, isInConversation: isInConversation)
      }
      if Self.has(term.ascii, in: ascii) {
        matchesOfASCII[text]?.add(message, isText: true, isInConversation: isInConversation)
      }
    }
  }

  private static func folded(_ text: String, isLoose: Bool) -> [UInt32] {
    var folded = FoldedText()
    Bytes.with(Array(text.utf8)) { folded.fold($0, isLoose: isLoose) }
    return folded.scalars
  }

  private static func lowercasedASCII(_ text: String) -> [UInt8] {
    text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
  }

  private static func has<Unit: Equatable>(_ term: [Unit], in text: [Unit]) -> Bool {
    guard let first = term.first, text.count >= term.count else { return false }
    for start in 0...text.count - term.count where text[start] == first {
      if term.indices.allSatisfy({ text[start + $0] == term[$0] }) { return true }
    }
    return false
  }
}
