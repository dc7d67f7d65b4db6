package import PageFile

/// Makes a dictionary out of a sample of a store's messages.
///
/// **It must not remember people's words**, because erasing a message never touches a dictionary. See
/// docs/message-format.md, D-5.
///
///  1. Every string in it has at most 48 bytes and occurs in at least 8 messages of the sample, by at
///     least 3 senders; where the sample has fewer senders, on at least 3 days.
///  2. A byte that no text holds lies between two strings, so neighbours never join to a phrase that
///     somebody wrote. What keeps rule 1 keeps it in every piece.
///  3. Rule 1 is counted in the sample itself, never estimated.
///  4. The same sample gives the same dictionary.
package struct DictionaryBuilder: ~Copyable {
  /// The most text that a sample holds, unless its maker says otherwise.
  package static let sampleByteCountMax = 4 << 20
  /// The longest string of a dictionary.
  package static let stringByteCountMax = 48
  /// The shortest string of a dictionary; a match of LZ4 takes three bytes.
  package static let stringByteCountMin = 6
  /// How many messages a string has to occur in.
  package static let messageCountMin = 8
  /// How many senders it needs, or days.
  package static let senderCountMin = 3
  /// A smaller dictionary saves less than the page that it takes.
  package static let byteCountMin = 512

  /// The longest dictionary: LZ4 looks back no further.
  package static let dictionaryByteCountMax = 65_535

  private var sample = TextSample()
  private let sampleByteCountMax: Int

  /// A builder with an empty sample, whose `finish` takes about seven times its memory beside it.
  ///
  /// What is added should come from all over the store: the first megabytes of it make a worse
  /// dictionary than half as many from everywhere.
  package init(sampleByteCountMax: Int = Self.sampleByteCountMax) {
    self.sampleByteCountMax = sampleByteCountMax
  }

  /// Whether the last text found no room.
  package private(set) var isFull = false

  /// Adds one message; its text is left out when it finds no room.
  ///
  /// The day only has to differ where days differ.
  package mutating func add(_ text: Bytes, sender: UInt32, day: Int32) {
    guard sample.byteCount + text.count < sampleByteCountMax else {
      isFull = true
      return
    }
    sample.add(text, sender: sender, day: day)
  }

  /// The dictionary, its most useful strings last; nil when too little comes together to pay.
  package consuming func finish(byteCountMax: Int = DictionaryBuilder.dictionaryByteCountMax)
    -> ByteBuffer?
  {
    let byteCountMax = min(byteCountMax, Self.dictionaryByteCountMax)
    let order = SuffixOrder(sample)
    var choice = StringChoice(order.commonLengths(sample), order: order, sample: sample)
    choice.keepBest(byteCountMax: byteCountMax, sample: sample)
    let dictionary = choice.dictionary(sample)
    guard dictionary.count >= Self.byteCountMin else { return nil }
    return dictionary
  }
}
