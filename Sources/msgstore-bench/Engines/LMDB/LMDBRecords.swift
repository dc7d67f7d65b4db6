#if Peers
  private enum Flag {
    static let localTime: UInt8 = 1
    static let replyTo: UInt8 = 2
    static let edited: UInt8 = 4
    static let extras: UInt8 = 8
    static let activity: UInt8 = 1
    static let muted: UInt8 = 2
    static let title: UInt8 = 4
    static let preview: UInt8 = 8
    static let previewTime: UInt8 = 16
  }

  extension LMDBBuffer {
    /// Makes the value of a message, without the fields in its key.
    @inline(__always)
    func makeValue(of message: PeerMessage) {
      clear()
      append(message.status)
      append(
        (message.localTime == nil ? 0 : Flag.localTime)
          | (message.replyTo == nil ? 0 : Flag.replyTo)
          | (message.editedAt == nil ? 0 : Flag.edited)
          | (message.extras == nil ? 0 : Flag.extras))
      append(UInt16(truncatingIfNeeded: message.sender.utf8.count))
      if let localTime = message.localTime { append(localTime) }
      if let edited = message.editedAt { append(edited) }
      if let replyTo = message.replyTo { append(counted: replyTo) }
      if let extras = message.extras {
        let packed = extras.packed
        append(UInt16(truncatingIfNeeded: packed.count))
        unsafe packed.withUnsafeBytes { unsafe append($0) }
      }
      append(message.sender)
      append(message.text)
    }
  }

  extension PeerMessage {
    /// Copies all fields of a key and its value.
    @inline(__always)
    init(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
      var reader = unsafe LMDBReader(key)
      _ = reader.number(UInt8.self)
      conversation = reader.conversation()
      let place = reader.place()
      isPending = place.isPending
      time = place.time
      sequence = place.sequence
      id = unsafe String(decoding: reader.rest(), as: UTF8.self)
      reader = unsafe LMDBReader(value)
      status = reader.number()
      let flags = reader.number(UInt8.self)
      let senderByteCount = Int(reader.number(UInt16.self))
      localTime = flags & Flag.localTime == 0 ? nil : reader.number()
      editedAt = flags & Flag.edited == 0 ? nil : reader.number()
      replyTo = flags & Flag.replyTo == 0 ? nil : reader.countedString()
      extras =
        unsafe flags & Flag.extras == 0
        ? nil : MessageExtras(packed: reader.raw(count: Int(reader.number(UInt16.self))))
      sender = reader.string(count: senderByteCount)
      text = unsafe String(decoding: reader.rest(), as: UTF8.self)
    }
  }

  /// The value of a conversation, of which a commit changes the numbers and the preview.
  @safe
  struct LMDBSummary {
    private(set) var lastActivity: Int64?
    var unreadCount: Int64
    var messageCount: Int64
    var isMuted: Bool
    private var previewTime: Int64?
    private var previewStatus: UInt8
    private var hasTitle: Bool
    /// The stored bytes of the id, the title if any, and the participants.
    private let names: UnsafeRawBufferPointer
    /// The stored bytes of the preview's id, sender and text, if any.
    private let storedPreview: UnsafeRawBufferPointer
    private var newPreview: PeerDraft?

    init(_ value: UnsafeRawBufferPointer) {
      var reader = unsafe LMDBReader(value)
      let flags = reader.number(UInt8.self)
      isMuted = flags & Flag.muted != 0
      hasTitle = flags & Flag.title != 0
      previewStatus = reader.number()
      let activity = reader.number(Int64.self)
      lastActivity = flags & Flag.activity == 0 ? nil : activity
      unreadCount = reader.number()
      messageCount = reader.number()
      let time = reader.number(Int64.self)
      previewTime = flags & Flag.previewTime == 0 ? nil : time
      unsafe names = reader.raw(count: Int(reader.number(UInt16.self)))
      unsafe storedPreview = reader.rest()
    }

    /// Shows another message and takes its time as the latest activity.
    mutating func show(_ draft: PeerDraft) {
      newPreview = draft
      previewTime = draft.message.serverTime
      previewStatus = draft.message.status
      lastActivity = max(lastActivity ?? .min, draft.message.time)
    }

    /// Shows the same message with another text.
    mutating func showText(of draft: PeerDraft) { newPreview = draft }

    /// Records the time that a server gave to a message.
    mutating func acknowledge(_ message: PeerMessage) {
      lastActivity = max(lastActivity ?? .min, message.time)
      guard shows(message.id) else { return }
      previewTime = message.time
      previewStatus = message.status
    }

    /// Returns true if the list shows this message.
    func shows(_ id: String) -> Bool {
      guard unsafe !storedPreview.isEmpty else { return false }
      var reader = unsafe LMDBReader(storedPreview)
      return reader.countedString() == id
    }

    func put(into buffer: LMDBBuffer) {
      let hasPreview = unsafe newPreview != nil || !storedPreview.isEmpty
      buffer.clear()
      buffer.append(
        (lastActivity == nil ? 0 : Flag.activity) | (isMuted ? Flag.muted : 0)
          | (hasTitle ? Flag.title : 0) | (hasPreview ? Flag.preview : 0)
          | (previewTime == nil ? 0 : Flag.previewTime))
      buffer.append(previewStatus)
      buffer.append(lastActivity ?? 0)
      buffer.append(unreadCount)
      buffer.append(messageCount)
      buffer.append(previewTime ?? 0)
      buffer.append(UInt16(truncatingIfNeeded: unsafe names.count))
      unsafe buffer.append(names)
      guard let newPreview else { return unsafe buffer.append(storedPreview) }
      buffer.append(counted: newPreview.message.id)
      buffer.append(counted: newPreview.message.sender)
      buffer.append(counted: newPreview.preview)
    }

    /// Returns a copy of all fields of a conversation.
    func conversation(_ number: Int64) -> PeerConversation {
      var reader = unsafe LMDBReader(names)
      let id = reader.countedString()
      let title = hasTitle ? reader.countedString() : nil
      let participants = (0..<Int(reader.number(UInt16.self))).map { _ in reader.countedString() }
      let hasPreview = unsafe !storedPreview.isEmpty
      var preview = unsafe LMDBReader(storedPreview)
      return PeerConversation(
        number: number, id: id, participants: participants, title: title,
        lastActivity: lastActivity, unreadCount: unreadCount, messageCount: messageCount,
        previewID: hasPreview ? preview.countedString() : nil,
        previewSender: hasPreview ? preview.countedString() : nil,
        previewText: hasPreview ? preview.countedString() : nil, previewTime: previewTime,
        previewStatus: hasPreview ? Int64(previewStatus) : nil)
    }
  }

  extension LMDBBuffer {
    /// Makes the value of a conversation without messages.
    func makeValue(of conversation: CorpusConversation) {
      let names = LMDBBuffer()
      names.append(counted: conversation.id)
      if let title = conversation.title { names.append(counted: title) }
      names.append(UInt16(truncatingIfNeeded: conversation.participants.count))
      for participant in conversation.participants { names.append(counted: participant) }
      clear()
      append(conversation.title == nil ? 0 : Flag.title)
      append(0 as UInt8)
      for _ in 0..<4 { append(0 as Int64) }
      append(UInt16(truncatingIfNeeded: names.count))
      unsafe append(names.bytes)
    }
  }
#endif
