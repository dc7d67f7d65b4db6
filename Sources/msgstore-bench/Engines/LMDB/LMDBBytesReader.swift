#if Peers
  /// Measures LMDB copying out the bytes of messages, keys and values as they are, without making
  /// values of them, as one would do it in C.
  ///
  /// The copies are decoded after the clock has stopped, and compared like all reads.
  @safe
  final class LMDBBytesReader: TailReader {
    let name = EngineName.lmdbBytes
    var isExact = false
    private unowned let engine: LMDBEngine
    private let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: 4 << 20, alignment: 8)
    /// The ends of each key and value in the copy, newest first.
    private var ends: [(key: Int, value: Int)] = []
    private var conversation = 0
    /// The place from which `scroll` continues, if it is not the end.
    private let place = LMDBBuffer()
    private let thread = LMDBBuffer()

    init(_ engine: LMDBEngine) {
      self.engine = engine
    }

    deinit { unsafe copy.deallocate() }

    func tail(of conversation: Int, count: Int) throws -> Reading {
      startScroll(conversation)
      return try scroll(count: count)
    }

    func startScroll(_ conversation: Int) {
      self.conversation = conversation
      place.makeThreadKey(PeerMessage.number(conversation) + 1)
    }

    func scroll(count: Int) throws -> Reading {
      let environment = try engine.current
      let number = PeerMessage.number(conversation)
      ends.removeAll(keepingCapacity: true)
      ends.reserveCapacity(count)
      thread.makeThreadKey(number)
      var reading = makeReading()
      reading.nanoseconds = try timed {
        try environment.read { _, cursor in
          var byteCount = 0
          var isFound = try cursor.seek(before: place)
          while isFound, ends.count < count, cursor.isWithin(thread) {
            let keyEnd = byteCount + (unsafe cursor.key.count)
            let valueEnd = keyEnd + (unsafe cursor.value.count)
            guard unsafe valueEnd <= copy.count else {
              throw BenchError("lmdb-bytes: too many bytes")
            }
            unsafe UnsafeMutableRawBufferPointer(rebasing: copy[byteCount..<keyEnd])
              .copyMemory(from: cursor.key)
            unsafe UnsafeMutableRawBufferPointer(rebasing: copy[keyEnd..<valueEnd])
              .copyMemory(from: cursor.value)
            ends.append((keyEnd, valueEnd))
            byteCount = valueEnd
            if ends.count < count { isFound = try cursor.previous() }
          }
        }
      }
      let messages = ends.indices.map { index in
        let start = index == 0 ? 0 : ends[index - 1].value
        return unsafe PeerMessage(
          key: UnsafeRawBufferPointer(rebasing: copy[start..<ends[index].key]),
          value: UnsafeRawBufferPointer(rebasing: copy[ends[index].key..<ends[index].value]))
      }
      reading.digest.fold(messages, newestFirst: true, in: number)
      if let last = messages.last { place.makeMessageKey(last) }
      return reading
    }
  }
#endif
