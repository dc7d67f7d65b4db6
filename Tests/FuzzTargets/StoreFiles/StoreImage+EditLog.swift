import PageFile

/// Edits of the WAL files, and of files as a whole.
extension StoreImage {
  private static let headerFields: [Field] = [
    (8, 4), (12, 4), (16, 8), (32, 8), (40, 8), (48, 8), (56, 8),
  ]

  mutating func editLogHeader(_ input: inout FuzzInput) {
    let field = Self.headerFields[input.index(below: Self.headerFields.count)]
    logs[input.index(below: 2)].store(input.number(), field.byteCount, at: field.offset)
  }

  private static let commitFields: [Field] =
    [(4, 4), (8, 8), (16, 8), (24, 8), (32, 8), (40, 4), (44, 4), (112, 4), (116, 4)]
    + (0..<4).map { (48 + 4 * $0, 4) }

  /// Which log, and where one of its commits or its watermark is.
  private func place(_ input: inout FuzzInput) -> (log: Int, offset: Int) {
    let log = input.index(below: 2)
    let offsets = commitOffsets(log) + [commitsEnd(log)]
    return (log, offsets[input.index(below: offsets.count)])
  }

  mutating func editCommit(_ input: inout FuzzInput) {
    let (log, offset) = place(&input)
    let field = Self.commitFields[input.index(below: Self.commitFields.count)]
    logs[log].store(input.number(), field.byteCount, at: offset + field.offset)
  }

  mutating func editFrames(_ input: inout FuzzInput) {
    let (log, offset) = place(&input)
    let byteCount = Int(logs[log].uint(4, at: offset + 40))
    let place = input.index(below: max(byteCount, 257)) % max(1, byteCount)
    let bytes = input.take(input.index(below: 8) + 1)
    logs[log].store(bytes, at: offset + WALCommitHeader.byteCount + place)
  }

  /// A commit of the input's own, behind the last one of a log.
  mutating func appendCommit(_ input: inout FuzzInput) {
    let log = input.index(below: 2)
    guard logs[log].count >= WALHeader.byteCount else { return }
    let end = commitsEnd(log)
    let last = commitOffsets(log).last
    let frames = makeFrames(&input)
    var header =
      last.map { Array(logs[log][$0..<$0 + WALCommitHeader.byteCount]) } ?? firstHeader(log)
    header.store(UInt64(frames.count), 4, at: 4)
    header.store(header.uint(8, at: 8) &+ 1, 8, at: 8)
    header.store(UInt64(frames.bytes.count), 4, at: 40)
    if input.bool() { header.store(input.number(), 4, at: 48 + 4 * input.index(below: 4)) }
    if input.bool() { header.store(input.number(), 4, at: 112) }
    let byteCount = WALCommitHeader.paddedByteCount(framesByteCount: frames.bytes.count)
    if logs[log].count < end + byteCount {
      logs[log] += [UInt8](repeating: 0, count: end + byteCount - logs[log].count)
    }
    logs[log].store(header + frames.bytes, at: end)
  }

  /// The header of the commit before the first one of a log, with the roots of the meta slot.
  private func firstHeader(_ log: Int) -> [UInt8] {
    var header = [UInt8](repeating: 0, count: WALCommitHeader.byteCount)
    header.store(0x3154_4D43, 4, at: 0)
    header.store(logs[log].uint(8, at: 48) &- 1, 8, at: 8)
    header.store(Array(logs[log][32..<48]), at: 24)
    let roots = MetaSlot.offset(of: 0) + 120
    if data.count >= roots + Roots.byteCount {
      header.store(Array(data[roots..<roots + Roots.byteCount]), at: 48)
    }
    return header
  }

  private func makeFrames(_ input: inout FuzzInput) -> (bytes: [UInt8], count: Int) {
    var frames = ByteBuffer()
    let count = input.index(below: 5)
    for _ in 0..<count {
      let kind = input.byte() % 6
      if kind == PagePatch.Kind.words.rawValue {
        appendWords(&input, to: &frames)
        continue
      }
      frames.append(varint: input.number())
      frames.append(kind)
      if kind == PagePatch.Kind.freed.rawValue { continue }
      var ranges = ByteBuffer()
      if kind == PagePatch.Kind.fresh.rawValue && input.bool() {
        appendPage(&input, to: &ranges)
      }
      for _ in 0..<input.index(below: 5) {
        let gap = input.number()
        let bytes = input.take(input.index(below: 12))
        let isZeros = input.bool()
        ranges.append(varint: gap)
        ranges.append(
          varint: UInt64(isZeros ? Int(input.byte()) : bytes.count) << 1 | (isZeros ? 1 : 0))
        if !isZeros { ranges.append(bytes) }
      }
      frames.append(varint: UInt64(ranges.count))
      frames.append(ranges.bytes)
    }
    return (frames.bytes.array(), count)
  }

  /// A frame of words, which is malformed if it has no entry, one twice, one of no word, or the
  /// number of a page.
  private func appendWords(_ input: inout FuzzInput, to frames: inout ByteBuffer) {
    var entries = ByteBuffer()
    var index: UInt8 = 0
    for _ in 0..<input.index(below: 4) {
      index += input.byte() % 10
      entries.append(index)
      entries.append(varint: input.number())
    }
    frames.append(varint: input.bool() ? 0 : input.number())
    frames.append(PagePatch.Kind.words.rawValue)
    frames.append(varint: UInt64(entries.count))
    frames.append(entries.bytes)
  }

  /// The whole of some page of the data file, as the ranges of a fresh page.
  private func appendPage(_ input: inout FuzzInput, to ranges: inout ByteBuffer) {
    guard slotCount > 0 else { return }
    let start = offset(ofSlot: input.index(below: slotCount) + 1) + PagePatch.origin
    ranges.append(varint: 0)
    ranges.append(varint: UInt64(pageByteCount - PagePatch.origin) << 1)
    ranges.append(Array(data[start..<start + pageByteCount - PagePatch.origin]))
    // What follows changes nothing unless its gap is zero and the page has an end to change.
  }

  // MARK: Files

  mutating func editFile(_ input: inout FuzzInput) {
    let file = input.index(below: 3)
    switch input.index(below: 6) {
    case 0: missing.formSymmetricDifference([file])
    case 1: logs.swapAt(0, 1)
    case 2: logs[1] = logs[0]
    case 3: resize(file, by: { $0 - min($0, Int(input.number() & 0xF_FFFF)) })
    case 4: resize(file, by: { $0 + Int(input.byte()) * WALHeader.sectorByteCount })
    default: resize(file, by: { _ in Int(input.number() & 0xF_FFFF) })
    }
  }

  private mutating func resize(_ file: Int, by change: (Int) -> Int) {
    var bytes = file == 0 ? data : logs[file - 1]
    if file > 0 && isResized.insert(file).inserted {
      bytes += [UInt8](repeating: 0, count: max(0, Self.logByteCountMin - bytes.count))
    }
    let byteCount = change(bytes.count)
    bytes.removeLast(max(0, bytes.count - byteCount))
    bytes += [UInt8](repeating: 0, count: byteCount - bytes.count)
    if file == 0 { data = bytes } else { logs[file - 1] = bytes }
  }

  mutating func editRaw(_ input: inout FuzzInput) {
    let file = input.index(below: 3)
    let offset = Int(input.raw(3))
    let bytes = input.take(input.index(below: 8) + 1)
    if file == 0 {
      data.store(bytes, at: data.isEmpty ? 0 : offset % data.count)
    } else {
      logs[file - 1].store(bytes, at: logs[file - 1].isEmpty ? 0 : offset % logs[file - 1].count)
    }
  }
}
