package import PageFile

/// How far the bytes of an attachment have come, in one direction.
///
/// Up and down are apart: what is uploaded here was not downloaded. A fact of this device.
///
/// As it is stored:
///
///     size  field
///        1  0 none, 1 queued, 2 running, 3 done, 4 failed
///     1–10  running: bytes done, varint
///     1–10  failed: how often, varint
///        n  failed: the failure
public enum AttachmentTransfer: Sendable, Hashable {
  /// Nobody has asked for it.
  case none
  /// Waits for its turn.
  case queued
  /// Bytes are moving; so many have arrived.
  case running(doneByteCount: Int64)
  /// All bytes are there.
  case done
  /// The last attempt failed; `count` attempts in a row have.
  case failed(Failure, count: Int)

  /// Whether bytes are moving.
  public var isRunning: Bool { if case .running = self { true } else { false } }

  /// How many attempts in a row have failed, where that is what it says.
  var failureCount: Int { if case .failed(_, let count) = self { count } else { 0 } }

  /// What it is when a store is opened: whoever moved the bytes is gone, so what was running is
  /// queued.
  public var afterRestart: AttachmentTransfer { isRunning ? .queued : self }
}

extension AttachmentTransfer {
  /// Reads a transfer.
  ///
  /// Any bytes may be given; nil when they do not begin with one.
  package init?(_ reader: inout ByteReader) {
    switch reader.byte() {
    case 0: self = .none
    case 1: self = .queued
    case 2:
      guard let number = reader.varint(), let byteCount = Int64(exactly: number) else {
        return nil
      }
      self = .running(doneByteCount: byteCount)
    case 3: self = .done
    case 4:
      guard let number = reader.varint(), let count = Int(exactly: number),
        let failure = Failure(&reader)
      else { return nil }
      self = .failed(failure, count: count)
    default: return nil
    }
  }

  /// Writes the transfer; a count below zero as zero.
  package func append(to buffer: inout ByteBuffer) {
    switch self {
    case .none: buffer.append(0)
    case .queued: buffer.append(1)
    case .running(let doneByteCount):
      buffer.append(2)
      buffer.append(varint: UInt64(max(doneByteCount, 0)))
    case .done: buffer.append(3)
    case .failed(let failure, let count):
      buffer.append(4)
      buffer.append(varint: UInt64(max(count, 0)))
      failure.append(to: &buffer)
    }
  }
}
