package import PageFile

/// A piece of work that is too large for one commit, as the work tree stores it.
///
/// See docs/message-format.md, Y-1 … Y-3.
///
///     size  field
///        1  tag: 1
///        1  kind: 1 sweep, 2 trim, 3 merge
///        4  number of the conversation
///        8  trim: up to this server time
///        4  merge: number of the conversation that takes the messages
///        n  merge: the former summary of this number, up to the end
///
///  1. A number that is swept or merged belongs to no conversation any more. It has messages and
///     facts about them, but no summary and no name.
///  2. A step removes its work from the place where the next step looks, so no position needs to be
///     kept.
package struct WorkRecord: Hashable {
  static let tag: UInt8 = 1

  /// The kinds of work.
  package enum Kind: Hashable {
    /// Removes everything that a deleted conversation has left.
    case sweep
    /// Removes the messages up to a time from a conversation that stays.
    case trim(upTo: Int64)
    /// Moves everything to another conversation.
    case merge(into: UInt32, ConversationSummary)
  }

  package let conversation: UInt32
  package let kind: Kind

  package init(_ kind: Kind, of conversation: UInt32) {
    self.kind = kind
    self.conversation = conversation
  }

  /// Decodes a piece of work.
  ///
  /// Returns nil if the bytes are not a valid one; never traps.
  package init?(_ bytes: Bytes) {
    var reader = ByteReader(bytes)
    guard reader.byte() == Self.tag, let code = reader.byte(), let number = reader.uint32() else {
      return nil
    }
    switch code {
    case 1:
      kind = .sweep
    case 2:
      guard let time = reader.uint64() else { return nil }
      kind = .trim(upTo: Int64(bitPattern: time))
    case 3:
      guard let target = reader.uint32(), let summary = ConversationSummary(reader.rest()) else {
        return nil
      }
      kind = .merge(into: target, summary)
    default:
      return nil
    }
    guard reader.isAtEnd else { return nil }
    conversation = number
  }

  /// Appends the piece of work.
  package func append(to buffer: inout ByteBuffer) {
    buffer.append(Self.tag)
    switch kind {
    case .sweep:
      buffer.append(1)
      buffer.append(littleEndian: conversation)
    case .trim(let time):
      buffer.append(2)
      buffer.append(littleEndian: conversation)
      buffer.append(time: time)
    case .merge(let target, let summary):
      buffer.append(3)
      buffer.append(littleEndian: conversation)
      buffer.append(littleEndian: target)
      summary.append(to: &buffer)
    }
  }

  /// The limit of ordinals.
  ///
  /// Their first byte is 0, so that the outbox can lie behind them.
  static let maximumOrdinal: UInt64 = 1 << 56
  package static var keyStart: ByteBuffer {
    var start = ByteBuffer()
    start.append(0)
    return start
  }

  static func key(_ ordinal: UInt64) -> ByteBuffer {
    var key = ByteBuffer()
    key.append(bigEndian: ordinal)
    return key
  }
}
