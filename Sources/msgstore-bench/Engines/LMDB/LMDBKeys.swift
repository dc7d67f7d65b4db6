#if Peers
  /// The kind of a key, stored in its first byte.
  ///
  /// All kinds share one tree, so that a commit writes the pages of one tree and a reader need not
  /// look up others.
  enum LMDBKind: UInt8 {
    /// (conversation, pending, time, sequence, id) → the message, in the order in which a thread is
    /// read
    case message = 1
    /// (id, conversation) → the message's place.
    ///
    /// Ids come first because push ids grow with time, so all conversations append at one end.
    case id
    /// number → the conversation
    case conversation
    /// (activity, conversation) → nothing
    case activity
    /// (id, conversation, time) → an earlier text of the message
    case version
    /// (conversation, id, member) → the time when the member read it
    case receipt
    /// (conversation, member, time, sequence) → the time when the member read up to there
    case mark
    /// → the number of unread messages, those of muted conversations separate
    case totals
  }

  extension LMDBBuffer {
    @inline(__always)
    private func begin(_ kind: LMDBKind) {
      clear()
      append(kind.rawValue)
    }

    /// Makes the lowest possible key of a message in a conversation.
    @inline(__always)
    func makeThreadKey(_ conversation: Int64) {
      begin(.message)
      append(UInt32(truncatingIfNeeded: conversation).bigEndian)
    }

    /// Makes the lowest possible key of an acknowledged message at or after a time.
    @inline(__always)
    func makeTimeKey(_ conversation: Int64, _ time: Int64) {
      makeThreadKey(conversation)
      append(0 as UInt8)
      append(ordered: time)
    }

    @inline(__always)
    func makeMessageKey(_ message: PeerMessage) {
      makeMessageKey(
        message.conversation,
        LMDBPlace(isPending: message.isPending, time: message.time, sequence: message.sequence),
        message.id)
    }

    @inline(__always)
    func makeMessageKey(_ conversation: Int64, _ place: LMDBPlace, _ id: String) {
      makeThreadKey(conversation)
      append(place)
      append(id)
    }

    @inline(__always)
    func append(_ place: LMDBPlace) {
      append(place.isPending ? 1 : 0 as UInt8)
      append(ordered: place.time)
      append(ordered: place.sequence)
    }

    @inline(__always)
    func makeIDKey(_ id: String, _ conversation: Int64) {
      begin(.id)
      append(id)
      append(UInt32(truncatingIfNeeded: conversation).bigEndian)
    }

    @inline(__always)
    func makeConversationKey(_ number: Int64) {
      begin(.conversation)
      append(UInt32(truncatingIfNeeded: number).bigEndian)
    }

    @inline(__always)
    func makeActivityKey(_ activity: Int64, _ conversation: Int64) {
      begin(.activity)
      append(ordered: activity)
      append(UInt32(truncatingIfNeeded: conversation).bigEndian)
    }

    /// Makes the key that comes after all keys of a kind.
    @inline(__always)
    func makeKey(after kind: LMDBKind) {
      clear()
      append(kind.rawValue + 1)
    }

    /// Makes the key of an earlier text of a message at a time, or the prefix of all its earlier
    /// texts.
    func makeVersionKey(_ id: String, _ conversation: Int64, time: Int64?) {
      begin(.version)
      append(id)
      append(UInt32(truncatingIfNeeded: conversation).bigEndian)
      if let time { append(ordered: time) }
    }

    /// Makes the key of a member's receipt, or the prefix of all receipts of a message.
    func makeReceiptKey(_ conversation: Int64, _ id: String, member: String) {
      begin(.receipt)
      append(UInt32(truncatingIfNeeded: conversation).bigEndian)
      append(counted: id)
      append(member)
    }

    /// Makes the key of a member's mark, or the prefix of all marks of a conversation.
    func makeMarkKey(_ conversation: Int64, _ mark: (member: String, place: LMDBPlace)?) {
      begin(.mark)
      append(UInt32(truncatingIfNeeded: conversation).bigEndian)
      guard let mark else { return }
      append(counted: mark.member)
      append(mark.place)
    }

    func makeTotalsKey() { begin(.totals) }
  }

  /// The place of a message in its thread, without its id.
  struct LMDBPlace: Comparable {
    var isPending: Bool
    var time: Int64
    var sequence: Int64

    static func < (a: LMDBPlace, b: LMDBPlace) -> Bool {
      (a.isPending ? 1 : 0, a.time, a.sequence) < (b.isPending ? 1 : 0, b.time, b.sequence)
    }
  }

  extension LMDBReader {
    @inline(__always)
    mutating func place() -> LMDBPlace {
      LMDBPlace(
        isPending: number(UInt8.self) != 0, time: orderedNumber(), sequence: orderedNumber())
    }

    @inline(__always)
    mutating func conversation() -> Int64 { Int64(number(UInt32.self).byteSwapped) }
  }
#endif
