import CLZ4
package import PageFile

/// A compressor of blocks against one dictionary, which a writer keeps between blocks.
///
/// Loading a dictionary into LZ4's tables takes half as long as compressing a block of 4 KB, and
/// each block leaves its traces in the tables. A state is therefore loaded once and copied for each
/// block. LZ4 has a call that would avoid the copy, but exports it only when linked statically.
/// Without a dictionary nothing is copied: LZ4 starts over with the tables as the previous block
/// left them.
///
/// 1. Prepared states point into the dictionary, which this type keeps alive.
/// 2. The tables for high compression are 256 KiB, twice, and are allocated for the first block
///    that needs them.
@safe
package struct BlockCompressor: ~Copyable, Sendable {
  /// The time that a block is worth.
  package enum Effort: Sendable {
    /// A caller is waiting.
    case fast
    /// No caller is waiting: blocks become a quarter smaller in ten times the time.
    case high
  }

  /// The LZ4 level for high compression.
  private static let highLevel: Int32 = 4

  package let dictionary: CompressionDictionary
  private var fast: PreparedState?
  private var high: PreparedState?

  /// Creates a compressor without allocating anything.
  package init(_ dictionary: CompressionDictionary) {
    self.dictionary = dictionary
  }

  /// Appends the text as a compressed block to `buffer`.
  ///
  /// Returns false and appends nothing if the block would not be shorter than the text.
  package mutating func compress(_ text: Bytes, effort: Effort, to buffer: inout ByteBuffer) -> Bool
  {
    guard text.count > 1, text.count <= CompressionDictionary.maximumBlockByteCount else {
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
      // Unsafe: the state has the size that LZ4 requires, and the dictionary's bytes outlive it
      // (rule 1).
      fast = unsafe PreparedState(
        byteCount: MemoryLayout<LZ4_stream_t>.size, isCopied: dictionary.bytes.count > 0
      ) { state in
        guard let stream = unsafe LZ4_initStream(state.baseAddress, state.count) else { return }
        unsafe dictionary.bytes.withUnsafeBytes {
          _ = unsafe LZ4_loadDict(stream, $0.baseAddress, Int32($0.count))
        }
      }
    }
    // Unsafe: a call into C; both lengths come from the buffers themselves.
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
      // Unsafe: the state has the size that LZ4 requires, and the dictionary's bytes outlive it
      // (rule 1).
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
    // Unsafe: a call into C; both lengths come from the buffers themselves.
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

/// An LZ4 state with its dictionary loaded, plus room for the copy that a block uses up.
///
/// Without a dictionary, blocks use one state in succession.
///
/// A class although it has a single owner: Swift 6.3.1 gives no linkage to the destruction of a
/// private noncopyable member of a type that another module uses.
@safe
private final class PreparedState: @unchecked Sendable {
  // Unchecked: reached only through the mutating calls of the single owner, which cannot be copied.
  private let memory: UnsafeMutableRawPointer
  private let byteCount: Int
  private let isCopied: Bool
  private var traces = Traces.none

  /// The traces of the previous block in the state.
  enum Traces {
    case none
    case ofBlock
    /// A block that did not fit leaves the state undefined.
    case ofFailure
  }

  init(
    byteCount: Int, isCopied: Bool, _ prepare: (UnsafeMutableRawBufferPointer) -> Void
  ) {
    self.byteCount = byteCount
    self.isCopied = isCopied
    let allocatedByteCount = byteCount * (isCopied ? 2 : 1)
    unsafe memory = .allocate(byteCount: allocatedByteCount, alignment: 16)
    unsafe fillMemory(memory, with: 0, byteCount: allocatedByteCount)
    unsafe prepare(UnsafeMutableRawBufferPointer(start: memory, count: byteCount))
  }

  deinit { unsafe memory.deallocate() }

  /// Runs `body` on a fresh copy of the state or, without a dictionary, on the state itself.
  ///
  /// `body` returns the byte count of a block, or 0.
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
