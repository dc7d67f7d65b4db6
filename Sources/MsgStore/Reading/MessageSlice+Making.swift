import PageFile

extension MessageSlice {
  /// Creates a slice of given messages, for previews and tests of views.
  ///
  /// - Parameters:
  ///   - messages: The messages, oldest first. All are shown as messages of the conversation of the
  ///     first; their places and ids should differ.
  ///   - hasOlder: True to end with `SliceBoundary.more` before the first message.
  ///   - hasNewer: True to end with `SliceBoundary.more` after the last message.
  public init(_ messages: [Message], hasOlder: Bool = false, hasNewer: Bool = false) {
    var rows = SliceRows(capacity: messages.count)
    var buffer = ByteBuffer()
    var rares: [Message.Rare] = []
    var senders: [MemberID] = []
    for message in messages {
      let senderIndex = senders.firstIndex(of: message.sender) ?? senders.count
      if senderIndex == senders.count { senders.append(message.sender) }
      rows.append(SliceRow(message, Int32(senderIndex), &buffer, &rares))
    }
    // A name is read as a whole, whatever follows it.
    buffer.append(zeros: MessageID.maximumInlineByteCount + 1)
    self.init(
      SliceContent(
        rows: rows, rares: rares, forwardCount: messages.count, buffer: buffer,
        origin: Message.Origin(messages.first?.conversation ?? "", senders), hasOlder: hasOlder,
        hasNewer: hasNewer, gaps: SliceGaps()))
  }
}

extension SliceRow {
  /// Creates the row of a message, and adds its bytes and its rare fields to those of the slice.
  fileprivate init(
    _ message: Message, _ senderIndex: Int32, _ buffer: inout ByteBuffer,
    _ rares: inout [Message.Rare]
  ) {
    let isPending = message.serverTimestamp == nil
    var rare = message.rare?.fields ?? RareFields()
    // The place has the name in the position; a name that no store would take is kept as the id.
    let name = Array((rare.keyName ?? message.id).string.utf8.prefix(Identifier.maximumByteCount))
    if rare.keyName != nil || name.count != message.id.string.utf8.count { rare.ownID = message.id }
    let idOffset = buffer.count
    for byte in name { buffer.append(byte) }
    let textOffset = buffer.count
    for byte in message.text.utf8 { buffer.append(byte) }
    let textByteCount = buffer.count - textOffset
    let replyOffset = buffer.count
    if message.fields[.reply] { buffer.append(MessageID(words: message.replyWords)) }
    let replyByteCount = buffer.count - replyOffset
    rares.append(Message.Rare(rare))
    self.init(
      time: isPending ? message.localMicroseconds : message.serverMicroseconds,
      rank: isPending ? rare.localOrder : message.sequenceNumber,
      extra: isPending ? message.sequenceNumber : message.localMicroseconds,
      idOffset: idOffset, textOffset: textOffset, replyOffset: replyOffset,
      textByteCount: Int32(clamping: textByteCount), senderIndex: senderIndex,
      rareIndex: Int32(clamping: rares.count - 1), idByteCount: UInt8(clamping: name.count),
      replyByteCount: UInt8(clamping: replyByteCount), fields: message.fields, isPending: isPending,
      isASCII: buffer.bytes.slice(textOffset, textByteCount).isASCII(from: 0), isDeferred: false,
      isPlain: false)
  }
}
