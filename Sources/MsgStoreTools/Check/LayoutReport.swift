package import MsgStore
package import PageFile

/// The use of a store's pages, and the messages in them: the result of one walk.
package struct LayoutReport: Sendable {
  /// The slots and the trees.
  package var pages: SlotLayout
  /// The cells of the messages tree by the form of their messages.
  package var packing: PackingReport
  /// The conversations by the bytes of their messages.
  package var conversations: LargestConversations
}

extension Inspector {
  /// Returns the use of all pages and the sizes of conversations, from one walk.
  ///
  /// Memory grows with the number of pages, not with that of messages or conversations.
  ///
  /// - Parameter largestCount: The number of conversations that are listed one by one.
  package func layoutReport(largestCount: Int = 30) throws(PageFileError) -> LayoutReport {
    var packing = PackingReport()
    var conversations = LargestConversations(maximumLargestCount: largestCount)
    let pages = try layout { tree, page in
      guard TreeNumber(tree) == Schema.messages else { return }
      for index in 0..<page.cellCount {
        let messageCount = packing.add(page, index)
        let key = page.key(index)
        guard key.byteCount >= KeyEncoding.numberByteCount else { continue }
        let number = UInt32(truncatingIfNeeded: key.bigEndian64(at: 0) >> 32)
        let overflowByteCount = page.overflow(index)?.byteCount ?? 0
        conversations.add(
          number, messageCount: messageCount,
          byteCount: page.cellByteCount(index) + overflowByteCount)
      }
    }
    conversations.endConversation()
    return LayoutReport(pages: pages, packing: packing, conversations: conversations)
  }
}

/// Messages in cells of one form.
package struct PackingTally: Sendable, Hashable {
  package var cellCount = 0
  package var messageCount = 0
  /// The bytes of the values as they are stored.
  package var byteCount = 0
  /// The bytes of the texts and rare fields when unpacked; 0 for messages beside segments.
  package var unpackedByteCount = 0
}

/// The forms in which the messages of a store lie in its pages.
package struct PackingReport: Sendable {
  /// A damaged store may name any number of dictionaries; those beyond are counted together.
  private static let maximumDictionaryCount = 64

  /// Segments that are not compressed.
  package private(set) var plain = PackingTally()
  /// Segments by the number of their dictionary, 0 for none.
  package private(set) var dictionaries: [UInt32: PackingTally] = [:]
  /// Segments with dictionaries beyond the limit.
  package private(set) var otherDictionaries = PackingTally()
  /// Messages in cells of their own.
  package private(set) var loose = PackingTally()

  /// Counts a cell and returns the number of its messages.
  ///
  /// No segment lies in an overflow chain.
  mutating func add(_ page: TreePage, _ index: Int) -> Int {
    let byteCount = page.valueRange(index).byteCount
    guard let value = page.inlineValue(index), let header = SegmentHeader(value) else {
      loose.cellCount += 1
      loose.messageCount += 1
      loose.byteCount += byteCount
      return 1
    }
    func count(_ tally: inout PackingTally) {
      tally.cellCount += 1
      tally.messageCount += header.count
      tally.byteCount += byteCount
      tally.unpackedByteCount += header.unpackedByteCount
    }
    switch header.coding {
    case .plain: count(&plain)
    case .lz4(let number):
      if dictionaries[number] != nil || dictionaries.count < Self.maximumDictionaryCount {
        count(&dictionaries[number, default: PackingTally()])
      } else {
        count(&otherDictionaries)
      }
    }
    return header.count
  }

  /// All segments together.
  package var segments: PackingTally {
    var all = PackingTally()
    for tally in [plain, otherDictionaries] + dictionaries.values {
      all.cellCount += tally.cellCount
      all.messageCount += tally.messageCount
      all.byteCount += tally.byteCount
      all.unpackedByteCount += tally.unpackedByteCount
    }
    return all
  }
}

/// The sizes of conversations: the largest one by one, the others together.
package struct LargestConversations: Sendable {
  /// The messages of one conversation, or of several together.
  package struct Size: Sendable, Hashable {
    /// The number of the conversation.
    package var number: UInt32
    package var messageCount = 0
    /// The bytes of the cells with its messages.
    package var byteCount = 0
  }

  /// The largest conversations, the largest first.
  package private(set) var largest: [Size] = []
  /// The number of all conversations that have messages.
  package private(set) var count = 0
  /// The messages of all conversations.
  package private(set) var messageCount = 0
  /// The bytes of the cells of all conversations.
  package private(set) var byteCount = 0
  private var current: Size?
  private let maximumLargestCount: Int

  package init(maximumLargestCount: Int) { self.maximumLargestCount = maximumLargestCount }

  /// Adds a cell; the cells of a conversation follow one another.
  package mutating func add(_ number: UInt32, messageCount: Int, byteCount: Int) {
    if current?.number != number {
      endConversation()
      current = Size(number: number)
    }
    current?.messageCount += messageCount
    current?.byteCount += byteCount
  }

  /// Ends the last conversation.
  package mutating func endConversation() {
    guard let size = current else { return }
    current = nil
    count += 1
    messageCount += size.messageCount
    byteCount += size.byteCount
    let place = largest.firstIndex { $0.byteCount < size.byteCount } ?? largest.count
    guard place < maximumLargestCount else { return }
    largest.insert(size, at: place)
    if largest.count > maximumLargestCount { largest.removeLast() }
  }
}

extension StoreSnapshot {
  /// Returns the id and the title of the conversation of a number.
  ///
  /// - Throws: `corruptRecord` if there is no such conversation; `storage`.
  package func conversationName(
    _ number: UInt32
  ) throws(StoreError) -> (id: ConversationID, title: String?) {
    try within { (view) throws(StoreError) in
      let details = try view.conversations.details(number)
      return (details.id, details.title.text)
    }
  }
}
