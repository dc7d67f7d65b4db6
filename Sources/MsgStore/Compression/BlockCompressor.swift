import CLZ4
package import PageFile

/// Compresses blocks against one dictionary; a writer has one and keeps it.
///
/// Loading a dictionary into LZ4's tables takes half as long as compressing a block of 4 KB, and each
/// block leaves its own traces in the tables. So a state is loaded once and copied for each block. The
/// library has a call that would save the copy, but only its static form exports it. Without a
/// dictionary there is nothing to copy: LZ4 begins anew with tables as a block has left them.
///
///  1. Prepared states point into the dictionary, which is kept alive here.
///  2. The tables of high compression are 256 KiB, twice, and made when the first block asks for it.
@safe
package struct BlockCompressor: ~Copyable, Sendable {
  /// How much time a block is worth.
  package enum Effort: Sendable {
    /// Somebody waits.
    case fast
    /// Nobody waits: blocks a quarter smaller for ten times the time.
    case high
  }

  /// The level of high compression.
  private static let highLevel: Int32 = 4

  package let dictionary: CompressionDictionary
  private var fast: PreparedState?
  private var high: PreparedState?

  /// A compressor that has allocated nothing yet.
  package init(_ dictionary: CompressionDictionary) {
    self.dictionary = dictionary
  }

  /// The text as a block at the end of `buffer`; false, and nothing added, when it would not be
  /// shorter than the text.
  package mutating func compress(_ text: Bytes, effort: Effort, to buffer: inout ByteBuffer) -> Bool
  {
    guard text.count > 1, text.count <= CompressionDictionary.blockByteCountMax else {
      return false
    }
    let start = buffer.count
    buffer.append(zeros: text.count - 1)
    let target = buffer.mutableBytes.slice(start, text.count - 1)
    let byteCount =
      switch effort {
      case .fast: compressFast(text, to: target)
      case .high: compressHigh(text, to: target)
      }
    buffer.truncate(to: start + max(byteCount, 0))
    return byteCount > 0
  }

  private mutating func compressFast(_ text: Bytes, to target: MutableBytes) -> Int {
    if fast == nil {
      // Unsafe: the state is as large as LZ4 says, and the dictionary's bytes outlive it (rule 1).
      fast = unsafe PreparedState(
        byteCount: MemoryLayout<LZ4_stream_t>.size, isCopied: dictionary.bytes.count > 0
      ) { state in
        guard let stream = unsafe LZ4_initStream(state.baseAddress, state.count) else { return }
        unsafe dictionary.bytes.withUnsafeBytes {
          _ = unsafe LZ4_loadDict(stream, $0.baseAddress, Int32($0.count))
        }
      }
    }
    // Unsafe: a call into C, with both lengths taken from the buffers themselves.
    return unsafe fast?.withState { state, traces in
      let stream = unsafe state.assumingMemoryBound(to: LZ4_stream_t.self)
      switch traces {
      case .none: break
      case .ofBlock: unsafe LZ4_resetStream_fast(stream)
      case .ofFailure: _ = unsafe LZ4_initStream(state, MemoryLayout<LZ4_stream_t>.size)
      }
      return unsafe text.withUnsafeBytes { source in
        unsafe target.withUnsafeMutableBytes { target in
          unsafe Int(
            LZ4_compress_fast_continue(
              stream, source.baseAddress, target.baseAddress, Int32(source.count),
              Int32(target.count), 1))
        }
      }
    } ?? 0
  }

  private mutating func compressHigh(_ text: Bytes, to target: MutableBytes) -> Int {
    if high == nil {
      // Unsafe: the state is as large as LZ4 says, and the dictionary's bytes outlive it (rule 1).
      high = unsafe PreparedState(
        byteCount: Int(LZ4_sizeofStateHC()), isCopied: dictionary.bytes.count > 0
      ) { state in
        guard let stream = unsafe LZ4_initStreamHC(state.baseAddress, state.count) else { return }
        unsafe LZ4_resetStreamHC_fast(stream, Self.highLevel)
        unsafe dictionary.bytes.withUnsafeBytes {
          _ = unsafe LZ4_loadDictHC(stream, $0.baseAddress, Int32($0.count))
        }
      }
    }
    // Unsafe: a call into C, with both lengths taken from the buffers themselves.
    return unsafe high?.withState { state, traces in
      let stream = unsafe state.assumingMemoryBound(to: LZ4_streamHC_t.self)
      if traces == .ofFailure { _ = unsafe LZ4_initStreamHC(state, Int(LZ4_sizeofStateHC())) }
      if traces != .none { unsafe LZ4_resetStreamHC_fast(stream, Self.highLevel) }
      return unsafe text.withUnsafeBytes { source in
        unsafe target.withUnsafeMutableBytes { target in
          unsafe Int(
            LZ4_compress_HC_continue(
              stream, source.baseAddress, target.baseAddress, Int32(source.count),
              Int32(target.count)))
        }
      }
    } ?? 0
  }
}

/// A state of LZ4 as it is after its dictionary was loaded, and room for the copy that a block uses
/// up; without a dictionary, a state that blocks use one after the other.
///
/// A class although it has one owner, because Swift 6.3.1 gives no linkage to what frees a private
/// noncopyable member of a type that another module uses.
@safe
private final class PreparedState: @unchecked Sendable {
  // Unchecked: only the mutating calls of its one owner, which cannot be copied, get here.
  private let memory: UnsafeMutableRawPointer
  private let byteCount: Int
  private let isCopied: Bool
  private var traces = Traces.none

  /// What the block before has left in the state.
  enum Traces {
    case none
    case ofBlock
    /// What a block that did not fit leaves is undefined.
    case ofFailure
  }

  init(
    byteCount: Int, isCopied: Bool, _ prepare: (UnsafeMutableRawBufferPointer) -> Void
  ) {
    self.byteCount = byteCount
    self.isCopied = isCopied
    let allocatedByteCount = byteCount * (isCopied ? 2 : 1)
    unsafe memory = .allocate(byteCount: allocatedByteCount, alignment: 16)
    unsafe memory.initializeMemory(as: UInt8.self, repeating: 0, count: allocatedByteCount)
    unsafe prepare(UnsafeMutableRawBufferPointer(start: memory, count: byteCount))
  }

  deinit { unsafe memory.deallocate() }

  /// Runs `body`, which returns the byte count of a block or 0, on a fresh copy of the state, or on
  /// the one state there is.
  func withState(_ body: (UnsafeMutableRawPointer, Traces) -> Int) -> Int {
    if isCopied {
      unsafe (memory + byteCount).copyMemory(from: memory, byteCount: byteCount)
      return unsafe body(memory + byteCount, .none)
    }
    let written = unsafe body(memory, traces)
    traces = written > 0 ? .ofBlock : .ofFailure
    return written
  }
}
