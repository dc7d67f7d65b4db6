import CLZ4
package import PageFile

/// Encodes texts as LZ4 blocks against one dictionary, with the system's liblz4.
///
/// Loading a dictionary into liblz4's tables takes half as long as compressing a block of 4 KB, and
/// each block leaves its traces in the tables. A state is therefore loaded once and copied for each
/// block. There is a call that would avoid the copy, but liblz4 exports it only when linked
/// statically. Without a dictionary nothing is copied: liblz4 starts over with the tables as the
/// previous block left them.
///
///  1. The state points into the dictionary, which the owner keeps alive.
///  2. The tables for high compression are 256 KiB, twice.
///
/// A class although it has a single owner: Swift 6.3.1 gives no linkage to the destruction of a
/// private noncopyable member of a type that another module uses.
@safe
package final class BlockEncoder: @unchecked Sendable {
  // Unchecked: one owner uses it, for one text at a time.

  /// The time that a block is worth.
  package enum Effort: Sendable {
    /// Takes the first match.
    case fast
    /// Looks for longer matches: blocks become a quarter smaller in ten times the time.
    case high
  }

  /// The traces of the previous block in the state.
  private enum Traces {
    case none
    case ofBlock
    /// A block that did not fit leaves the state undefined.
    case ofFailure
  }

  /// The longest text, in bytes.
  package static let maximumTextByteCount = 1 << 30

  /// The level for high compression.
  private static let highLevel: Int32 = 4

  private let effort: Effort
  private let memory: UnsafeMutableRawPointer
  private let byteCount: Int
  private let isCopied: Bool
  private var traces = Traces.none

  /// Creates an encoder; the bytes of the dictionary must outlive it (rule 1).
  package init(_ effort: Effort, dictionary: Bytes) {
    self.effort = effort
    byteCount =
      switch effort {
      case .fast: unsafe MemoryLayout<LZ4_stream_t>.size
      case .high: Int(LZ4_sizeofStateHC())
      }
    isCopied = dictionary.count > 0
    let allocatedByteCount = byteCount * (isCopied ? 2 : 1)
    unsafe memory = .allocate(byteCount: allocatedByteCount, alignment: 16)
    unsafe fillMemory(memory, with: 0, byteCount: allocatedByteCount)
    load(dictionary)
  }

  deinit { unsafe memory.deallocate() }

  private func load(_ dictionary: Bytes) {
    // Unsafe: the state has the size that liblz4 requires, and the dictionary's bytes outlive it
    // (rule 1).
    unsafe dictionary.withUnsafeBytes { dictionary in
      switch effort {
      case .fast:
        guard let stream = unsafe LZ4_initStream(memory, byteCount) else { return }
        _ = unsafe LZ4_loadDict(stream, dictionary.baseAddress, Int32(dictionary.count))
      case .high:
        guard let stream = unsafe LZ4_initStreamHC(memory, byteCount) else { return }
        unsafe LZ4_resetStreamHC_fast(stream, Self.highLevel)
        _ = unsafe LZ4_loadDictHC(stream, dictionary.baseAddress, Int32(dictionary.count))
      }
    }
  }

  /// Encodes a text into `target`; returns the size of the block, or 0 if it does not fit.
  package func encode(_ text: Bytes, into target: MutableBytes) -> Int {
    guard text.count <= Self.maximumTextByteCount, target.count <= Int32.max else { return 0 }
    // Unsafe: the copy lies behind the state; both lengths come from the buffers themselves.
    return unsafe text.withUnsafeBytes { source in
      unsafe target.withUnsafeMutableBytes { target in
        if isCopied { unsafe (memory + byteCount).copyMemory(from: memory, byteCount: byteCount) }
        let state = unsafe isCopied ? memory + byteCount : memory
        let written =
          switch effort {
          case .fast: unsafe encodeFast(source, to: target, state)
          case .high: unsafe encodeHigh(source, to: target, state)
          }
        if !isCopied { traces = written > 0 ? .ofBlock : .ofFailure }
        return max(written, 0)
      }
    }
  }

  @unsafe
  private func encodeFast(
    _ source: UnsafeRawBufferPointer, to target: UnsafeMutableRawBufferPointer,
    _ state: UnsafeMutableRawPointer
  ) -> Int {
    let stream = unsafe state.assumingMemoryBound(to: LZ4_stream_t.self)
    switch traces {
    case .none: break
    case .ofBlock: unsafe LZ4_resetStream_fast(stream)
    case .ofFailure: _ = unsafe LZ4_initStream(state, byteCount)
    }
    return unsafe Int(
      LZ4_compress_fast_continue(
        stream, source.baseAddress, target.baseAddress, Int32(source.count),
        Int32(target.count), 1))
  }

  @unsafe
  private func encodeHigh(
    _ source: UnsafeRawBufferPointer, to target: UnsafeMutableRawBufferPointer,
    _ state: UnsafeMutableRawPointer
  ) -> Int {
    let stream = unsafe state.assumingMemoryBound(to: LZ4_streamHC_t.self)
    if traces == .ofFailure { _ = unsafe LZ4_initStreamHC(state, byteCount) }
    if traces != .none { unsafe LZ4_resetStreamHC_fast(stream, Self.highLevel) }
    return unsafe Int(
      LZ4_compress_HC_continue(
        stream, source.baseAddress, target.baseAddress, Int32(source.count),
        Int32(target.count)))
  }

  /// Encodes a single text fast, without a dictionary, and keeps nothing for the next one.
  package static func encode(_ text: Bytes, into target: MutableBytes) -> Int {
    guard text.count <= maximumTextByteCount, target.count <= Int32.max else { return 0 }
    // Unsafe: a call into C; both lengths come from the buffers themselves.
    return unsafe text.withUnsafeBytes { source in
      unsafe target.withUnsafeMutableBytes { target in
        let written = unsafe LZ4_compress_default(
          source.baseAddress, target.baseAddress, Int32(source.count), Int32(target.count))
        return max(Int(written), 0)
      }
    }
  }
}
