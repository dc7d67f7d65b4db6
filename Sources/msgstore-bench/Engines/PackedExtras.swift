/// The form in which the peers store a message's mentions, reactions, and attachments: one value
/// beside the message's other fields.
///
/// A thread is then read without a join and without a second query, and a message that has none
/// costs the peer one byte. Counts have one byte, lengths two, and numbers are little-endian.
extension MessageExtras {
  var packed: [UInt8] {
    var packer = ExtrasPacker()
    packer.append(UInt8(truncatingIfNeeded: mentions.count))
    packer.append(UInt8(truncatingIfNeeded: reactions.count))
    packer.append(UInt8(truncatingIfNeeded: attachments.count))
    for mention in mentions { packer.append(mention) }
    for reaction in reactions {
      packer.append(reaction.member)
      packer.append(reaction.emoji)
      packer.append(reaction.time)
    }
    for file in attachments {
      packer.append(file.id)
      packer.append(file.kind)
      packer.append(file.url)
      packer.append(file.fileName == nil ? 0 : 1 as UInt8)
      if let fileName = file.fileName { packer.append(fileName) }
      packer.append(file.mimeType)
      packer.append(file.byteCount)
      packer.append(file.width ?? -1)
      packer.append(file.height ?? -1)
      packer.append(UInt16(truncatingIfNeeded: file.preview.count))
      packer.bytes += file.preview
    }
    return packer.bytes
  }

  convenience init(packed bytes: UnsafeRawBufferPointer) {
    var reader = unsafe ExtrasReader(bytes)
    let (mentionCount, reactionCount) = (reader.number(UInt8.self), reader.number(UInt8.self))
    let attachmentCount = reader.number(UInt8.self)
    self.init(
      mentions: (0..<mentionCount).map { _ in reader.string() },
      reactions: (0..<reactionCount).map { _ in
        ChatReaction(member: reader.string(), emoji: reader.string(), time: reader.number())
      },
      attachments: (0..<attachmentCount).map { _ in reader.attachment() })
  }
}

private struct ExtrasPacker {
  var bytes: [UInt8] = []

  mutating func append<Number: FixedWidthInteger>(_ number: Number) {
    for shift in stride(from: 0, to: Number.bitWidth, by: 8) {
      bytes.append(UInt8(truncatingIfNeeded: number >> Number(shift)))
    }
  }

  mutating func append(_ string: String) {
    append(UInt16(truncatingIfNeeded: string.utf8.count))
    bytes += string.utf8
  }
}

@safe
private struct ExtrasReader {
  private let bytes: UnsafeRawBufferPointer
  private var offset = 0

  @unsafe
  init(_ bytes: UnsafeRawBufferPointer) {
    unsafe self.bytes = bytes
  }

  @inline(__always)
  mutating func number<Number: FixedWidthInteger & BitwiseCopyable>(
    _ type: Number.Type = Number.self
  ) -> Number {
    defer { offset += MemoryLayout<Number>.size }
    return unsafe Number(
      littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Number.self))
  }

  @inline(__always)
  private mutating func slice() -> UnsafeRawBufferPointer {
    let count = Int(number(UInt16.self))
    defer { offset += count }
    return unsafe UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
  }

  @inline(__always)
  mutating func string() -> String { unsafe String(decoding: slice(), as: UTF8.self) }

  mutating func attachment() -> ChatAttachment {
    let id = string()
    let kind = number(UInt8.self)
    let url = string()
    let fileName = number(UInt8.self) == 0 ? nil : string()
    let mimeType = string()
    let byteCount = number(Int64.self)
    let (width, height) = (number(Int32.self), number(Int32.self))
    return ChatAttachment(
      id: id, kind: kind, url: url, fileName: fileName, mimeType: mimeType, byteCount: byteCount,
      width: width < 0 ? nil : width, height: height < 0 ? nil : height,
      preview: unsafe Array(slice()))
  }
}
