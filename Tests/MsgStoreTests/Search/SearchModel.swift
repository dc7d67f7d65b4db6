import MsgStore
import PageFile

/// Search as it is defined: fold everything, and look whether it contains the term.
struct SearchModel {
  /// A message as far as search needs it.
  private struct Entry {
    let message: Message
    let texts: [(loose: [UInt32], strict: [UInt32])]
  }
  private var entries: [Entry] = []

  init(_ store: MessageStore) throws {
    try store.read { snapshot in
      try snapshot.forEachConversation { conversation in
        guard try snapshot.conversation(conversation.id) != nil else { return }
        for message in try snapshot.thread(conversation.id).allMessages()
        where !message.isRetracted {
          let texts = [message.text] + message.attachments.compactMap(\.fileName)
          entries.append(Entry(message: message, texts: texts.map(Self.folds)))
        }
      }
    }
  }

  private static func folds(_ text: String) -> (loose: [UInt32], strict: [UInt32]) {
    (fold(text, isLoose: true), fold(text, isLoose: false))
  }

  private static func fold(_ text: String, isLoose: Bool) -> [UInt32] {
    var folded = FoldedText()
    Bytes.with(Array(text.utf8)) { folded.fold($0, isLoose: isLoose) }
    return folded.scalars
  }

  /// The ids of the messages in which a term without white space and quotes occurs.
  func ids(of term: String, isStrict: Bool = false) -> Set<MessageID> {
    let folds = Self.folds(term)
    let isLoose = folds.loose == folds.strict && !isStrict
    let found = entries.filter { entry in
      entry.texts.contains { (isLoose ? $0.loose : $0.strict).contains(folds.strict) }
    }
    return Set(found.map(\.message.id))
  }

  /// A part of a text, to search for; empty if there is no text.
  func part(_ random: inout SeededGenerator) -> String {
    guard let entry = entries.randomElement(using: &random), !entry.message.text.isEmpty else {
      return ""
    }
    let text = entry.message.text
    let count = Int.random(in: 1...12, using: &random)
    let start = Int.random(in: 0..<text.count, using: &random)
    let word = text.dropFirst(start).prefix(count)
    return String(word.filter { !$0.isWhitespace && !"\"“”„«»".contains($0) })
  }
}

extension [UInt32] {
  fileprivate func contains(_ other: [UInt32]) -> Bool {
    guard let first = other.first else { return true }
    guard count >= other.count else { return false }
    return (0...count - other.count).contains {
      self[$0] == first && self[$0..<$0 + other.count].elementsEqual(other)
    }
  }
}
