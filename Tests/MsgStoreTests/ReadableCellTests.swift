#if DEBUG
  import PageFile
  import Testing

  @testable import MsgStore

  /// What a debug build asserts of each cell that a writer inserts.
  struct ReadableCellTests {
    /// As many members are shown first as there are, up to a limit: readers go by that.
    @Test func detailsThatReadersRefuseAreTold() {
      var details = ConversationDetails(id: "c")
      details.participantCount = 3
      details.firstParticipants = [1, 2, 3]
      #expect(canRead(details))
      details.firstParticipants.append(4)
      #expect(!canRead(details))
    }

    @Test func clientDataOverTheLimitAreTold() {
      func canRead(_ byteCount: Int) -> Bool {
        Bytes.with([0, 0, 0, 1, 65]) { key in
          Bytes.with([UInt8](repeating: 1, count: byteCount)) {
            Schema.canRead(key, $0, in: Schema.client)
          }
        }
      }
      #expect(canRead(SyncPosition.maximumByteCount))
      #expect(!canRead(SyncPosition.maximumByteCount + 1))
    }

    private func canRead(_ details: ConversationDetails) -> Bool {
      let key = ConversationDetails.key(1)
      var value = ByteBuffer()
      details.append(to: &value)
      return Schema.canRead(key.bytes, value.bytes, in: Schema.conversations)
    }

    /// Keys and values that are none, of every tree.
    @Test func whatIsNoCellIsTold() {
      for tree in 0..<Schema.treeNames.count {
        for key in [[], [0], [9, 9, 9], [UInt8](repeating: 0xEE, count: 300)] as [[UInt8]] {
          let isRead = Bytes.with(key) { key in
            Bytes.with([0xEE, 1]) { Schema.canRead(key, $0, in: TreeNumber(tree)) }
          }
          #expect(!isRead, "\(Schema.treeNames[tree]), \(key.count)")
        }
      }
    }
  }
#endif
