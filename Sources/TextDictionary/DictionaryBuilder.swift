package import PageFile

/// Builds a dictionary from a sample of a store's messages.
///
/// **It must not remember people's words**, because erasing a message never touches a dictionary.
/// See docs/message-format.md, D-5.
///
/// 1. Every string in the dictionary has at most 48 bytes and occurs in at least 8 messages of the
///    sample, by at least 3 senders; if the sample has fewer senders, on at least 3 days.
/// 2. A byte that no text contains separates two strings, so neighbours never join to a phrase that
///    someone wrote. Every piece of a string that satisfies rule 1 satisfies it too.
/// 3. Rule 1 is verified by counting in the sample itself, never by estimates.
/// 4. The same sample gives the same dictionary.
package struct DictionaryBuilder: ~Copyable {
  /// The default limit on the text in a sample, in bytes.
  package static let maximumSampleByteCount = 4 << 20
  /// The longest string of a dictionary, in bytes.
  package static let maximumStringByteCount = 48
  /// The shortest string of a dictionary, in bytes; an LZ4 match takes three.
  package static let stringByteCountMin = 6
  /// The number of messages in which a string must occur.
  package static let messageCountMin = 8
  /// The number of senders, or days, that a string needs.
  package static let senderCountMin = 3
  /// The smallest dictionary, in bytes.
  ///
  /// A smaller one saves less than the page that it takes.
  package static let byteCountMin = 512

  /// The largest dictionary, in bytes.
  ///
  /// LZ4 looks back no further.
  package static let maximumDictionaryByteCount = 65_535

  private var sample = TextSample()
  private let maximumSampleByteCount: Int

  /// Creates a builder with an empty sample; `finish` needs about seven times the sample's memory
  /// in addition.
  ///
  /// Add texts from all over the store: its first megabytes make a worse dictionary than half as
  /// much text taken from everywhere.
  package init(maximumSampleByteCount: Int = Self.maximumSampleByteCount) {
    self.maximumSampleByteCount = maximumSampleByteCount
  }

  /// True if the last text did not fit.
  package private(set) var isFull = false

  /// Adds one message; drops its text if it does not fit.
  ///
  /// The day only has to differ for different days.
  package mutating func add(_ text: Bytes, sender: UInt32, day: Int32) {
    guard sample.byteCount + text.count < maximumSampleByteCount else {
      isFull = true
      return
    }
    sample.add(text, sender: sender, day: day)
  }

  /// Returns the dictionary, its most useful strings last; nil if it would be too small to pay off.
  package consuming func finish(
    maximumByteCount: Int = DictionaryBuilder.maximumDictionaryByteCount
  )
    -> ByteBuffer?
  {
    let maximumByteCount = min(maximumByteCount, Self.maximumDictionaryByteCount)
    let order = SuffixOrder(sample)
    var choice = StringChoice(order.commonLengths(sample), order: order, sample: sample)
    choice.keepBest(maximumByteCount: maximumByteCount, sample: sample)
    let dictionary = choice.dictionary(sample)
    guard dictionary.count >= Self.byteCountMin else { return nil }
    return dictionary
  }
}
