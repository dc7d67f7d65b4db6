import MsgStore
import MsgStoreTools
import PageFile

private let start = MessagePosition.start
private let end = MessagePosition.end

private func at(_ number: Int) -> Timestamp { Timestamp(microseconds: Int64(number)) }

/// What is read, in a snapshot and as it changes.
extension Edge {
  static let readingEdges: [Edge] = [
    reading("MessageThread.tail(_:)") { _ = try $0.thread("room").tail($1) },
    reading("MessageThread.before(_:count:)") { _ = try $0.thread("room").before(end, count: $1) },
    reading("MessageThread.after(_:count:)") { _ = try $0.thread("room").after(start, count: $1) },
    reading("MessageThread.around(_:count:)") {
      _ = try $0.thread("room").around("m3", count: $1)
    },
    reading("MessageThread.at(_:count:)") { chat, number in
      _ = try chat.thread("room").at(at(number), count: 3)
      _ = try chat.thread("room").at(at(3), count: number)
    },
    reading("MessageThread.firstUnread(count:)") {
      _ = try $0.thread("room").firstUnread(count: $1)
    },
    reading("MessageReplies.oldest(_:)") { _ = try $0.replies(to: "m0", in: "room").oldest($1) },
    reading("MessageReplies.newest(_:)") { _ = try $0.replies(to: "m0", in: "room").newest($1) },
    reading("MessageReplies.after(_:count:)") {
      _ = try $0.replies(to: "m0", in: "room").after(start, count: $1)
    },
    reading("MessageReplies.before(_:count:)") {
      _ = try $0.replies(to: "m0", in: "room").before(end, count: $1)
    },
    reading("MessageReplies.count(atMost:)") {
      _ = try $0.replies(to: "m0", in: "room").count(atMost: $1)
    },
    reading("TaggedMessages.tail(_:)") { _ = try $0.thread("room").tagged(.starred).tail($1) },
    reading("TaggedMessages.before(_:count:)") {
      _ = try $0.thread("room").tagged(.starred).before(end, count: $1)
    },
    reading("TaggedMessages.after(_:count:)") {
      _ = try $0.thread("room").tagged(.starred).after(start, count: $1)
    },
    reading("TaggedMessages.around(_:count:)") {
      _ = try $0.thread("room").tagged(.starred).around("m2", count: $1)
    },
    reading("TaggedMessages.at(_:count:)") { chat, number in
      _ = try chat.thread("room").tagged(.starred).at(at(number), count: 3)
      _ = try chat.thread("room").tagged(.starred).at(at(3), count: number)
    },
    reading("TaggedEverywhere.newest(_:)") { _ = try $0.tagged(.starred).newest($1) },
    reading("TaggedEverywhere.before(_:count:)") {
      _ = try $0.tagged(.starred).before(nil, count: $1)
    },
    reading("TaggedEverywhere.after(_:count:)") {
      _ = try $0.tagged(.starred).after(nil, count: $1)
    },
    reading("StoreReading.conversations(count:after:)") { _ = try $0.conversations(count: $1) },
    reading("StoreReading.archivedConversations(count:after:)") {
      _ = try $0.archivedConversations(count: $1)
    },
    reading("StoreReading.gaps(in:count:after:)") { chat, number in
      _ = try chat.gaps(in: "room", count: number)
      _ = try chat.gaps(in: "room", after: Int64(number))
    },
    reading("StoreReading.knownSequences(in:count:after:)") { chat, number in
      _ = try chat.knownSequences(in: "room", count: number)
      _ = try chat.knownSequences(in: "room", after: Int64(number))
    },
    reading("StoreReading.message(sequence:in:)") {
      _ = try $0.message(sequence: Int64($1), in: "room")
    },
    reading("StoreReading.unneededFiles(count:after:)") { _ = try $0.unneededFiles(count: $1) },
    reading("StoreReading.search(_:count:maximumSearchedCount:)") { chat, number in
      _ = try chat.search(SearchQuery("word"), count: number)
      _ = try chat.search(SearchQuery("word"), maximumSearchedCount: number)
    },
    reading("StoreReading.search(from:count:maximumSearchedCount:)") { chat, number in
      guard let edge = try chat.search(SearchQuery("word"), count: 1).edge else { return }
      _ = try chat.search(from: edge, count: number)
      _ = try chat.search(from: edge, maximumSearchedCount: number)
    },
    reading("SearchQuery.times") { chat, number in
      var query = try SearchQuery("word")
      query.times = min(at(number), at(2))...max(at(number), at(2))
      _ = try chat.search(query)
    },
    reading("OutboxReading.entries(in:count:from:)") { chat, number in
      _ = try chat.outbox.entries(count: number)
      _ = try chat.outbox.entries(in: "room", count: number)
      let first = OutboxEntry.ID(rawValue: UInt64(bitPattern: Int64(number)))
      _ = try chat.outbox.entries(in: "room", count: 3, from: first)
      _ = try chat.outbox.entry(first)
    },
    awaiting("MessageStore.search(_:count:)") { store, number in
      for try await _ in try store.search(SearchQuery("word"), count: number) {}
    },
    calling("ExportScope.init(conversation:since:)") { store, number in
      _ = try store.lines(of: ExportScope(since: at(number)))
    },
    calling("ExportScope.since") { store, number in
      var scope = ExportScope(conversation: "room")
      scope.since = at(number)
      _ = try store.lines(of: scope)
    },
  ]

  static let liveEdges: [Edge] = [
    following("StoreThread.live(newest:countsReceipts:)") { $0.live(newest: $1) },
    following("StoreThread.live(around:count:countsReceipts:)") {
      $0.live(around: "m3", count: $1)
    },
    following("StoreThread.live(at:count:countsReceipts:)") { $0.live(at: at($1), count: 3) },
    following("StoreThread.live(firstUnread:countsReceipts:)") { $0.live(firstUnread: $1) },
    following("StoreThread.live(repliesTo:newest:countsReceipts:)") {
      $0.live(repliesTo: "m0", newest: $1)
    },
    following("StoreThread.live(tagged:newest:countsReceipts:)") {
      $0.live(tagged: .starred, newest: $1)
    },
    following("LiveThread.loadOlder(_:)") { thread, number in
      let live = thread.live(around: "m3", count: .max)
      live.loadOlder(number)
      live.loadOlder(number)
      return live
    },
    following("LiveThread.loadNewer(_:)") { thread, number in
      let live = thread.live(around: "m3", count: .max)
      live.loadNewer(number)
      live.loadNewer(number)
      return live
    },
    calling("StoreConversations.live(newest:)") { store, number in
      var iterator = store.conversations.live(newest: number).makeAsyncIterator()
      _ = try iterator.nextIfThere()
    },
    calling("StoreConversations.live(newestArchived:)") { store, number in
      var iterator = store.conversations.live(newestArchived: number).makeAsyncIterator()
      _ = try iterator.nextIfThere()
    },
    calling("LiveConversations.loadOlder(_:)") { store, number in
      let live = store.conversations.live(newest: .max)
      live.loadOlder(number)
      live.loadOlder(.max)
      var iterator = live.makeAsyncIterator()
      _ = try iterator.nextIfThere()
    },
    calling("MessageStore.liveOutbox(count:in:)") { store, number in
      for conversation in [nil, "room"] as [ConversationID?] {
        var iterator = store.liveOutbox(count: number, in: conversation).makeAsyncIterator()
        _ = try iterator.nextIfThere()
      }
    },
  ]

  private static func following(
    _ name: String, _ make: @escaping @Sendable (StoreThread, Int) -> LiveThread
  ) -> Edge {
    calling(name) { store, number in
      let live = make(store.thread("room"), number)
      live.loadOlder(1)
      live.loadNewer(1)
      var iterator = live.makeAsyncIterator()
      _ = try iterator.nextIfThere()
    }
  }
}
