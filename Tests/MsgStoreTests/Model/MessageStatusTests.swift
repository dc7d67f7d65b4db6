import MsgStore
import Testing

/// The states of a message against the tables of docs/message-states.md, written out once more.
struct MessageStatusTests {
  private let states: [MessageStatus] = [
    .pending, .held, .sending, .retrying, .failed, .sent, .delivered, .read,
  ]

  /// Who may cause what.
  ///
  /// A row for each state, a column for each that is told, both in the order of `states`. C: the
  /// client, S: the server, B: both.
  private let table = [
    "-CCCBSSS",  // queued
    "C-CCBSSS",  // held
    "CC-CBSSS",  // sending
    "CCC-BSSS",  // retry at t
    "CCCC-SSS",  // failed
    "------SS",  // sent
    "-------S",  // delivered
    "--------",  // read
  ]

  @Test func everyPairIsAsTheTableSays() {
    #expect(Set(states) == Set(MessageStatus.allCases) && table.count == states.count)
    for (state, row) in zip(states, table) {
      #expect(row.count == states.count)
      for (event, mark) in zip(states, row) {
        let byClient = state.after(event, by: .client)
        let byServer = state.after(event, by: .server)
        #expect(byClient == ("CB".contains(mark) ? event : nil), "\(state), \(event)")
        #expect(byServer == ("SB".contains(mark) ? event : nil), "\(state), \(event)")
      }
    }
  }

  @Test func whatTheServerToldEndsTheSameInAnyOrder() {
    // All orders of three, with repetitions, so that each stands before and after each other.
    let told: [MessageStatus] = [.failed, .sent, .delivered, .read]
    func end(_ start: MessageStatus, _ events: [MessageStatus]) -> MessageStatus {
      events.reduce(start) { $0.after($1, by: .server) ?? $0 }
    }
    for start in states {
      for a in told {
        for b in told {
          for c in told {
            let expected = end(start, [a, b, c].sorted())
            #expect(end(start, [a, b, c]) == expected)
            #expect(end(start, [c, a, b, a, c]) == expected)
          }
        }
      }
    }
  }

  @Test func statusesCompareByRankAndAreStoredInThreeBits() {
    #expect(MessageStatus.allCases.shuffled().sorted() == states)
    let stored: [MessageStatus] = [
      .pending, .failed, .sent, .delivered, .read, .held, .sending, .retrying,
    ]
    #expect(stored.map(\.rawValue) == Array(0..<8))
    for status in stored {
      var message = Message(id: "m", in: "room", from: "ann", text: "", serverTimestamp: time(1))
      message.status = status
      #expect(message.status == status && message.serverTimestamp == time(1))
      #expect(message.localTime == nil && message.sequence == nil)
    }
  }

  @Test func eachStateHasItsSyncStatus() {
    #expect(
      states.map(\.isServerKnowledge) == Array(repeating: false, count: 5) + [true, true, true])
    #expect(
      states.map(\.syncStatus) == [
        .pending, .pending, .pending, .pending, .failed, .synced, .synced, .synced,
      ])
  }
}
