package import PageFile

/// Neighbouring messages before they are packed, each with the key and the record of a cell of its
/// own.
package struct MessageRun: ~Copyable {
  /// The offsets of a message's key and record in the buffer.
  private struct Entry {
    var keyOffset: Int
    var keyByteCount: Int
    var recordOffset: Int
    var recordByteCount: Int
  }

  private var entries: [Entry] = []
  private var buffer = ByteBuffer(capacity: 4096)

  package init() {}

  package var count: Int { entries.count }
  /// The approximate number of bytes that the messages have.
  var byteCount: Int { buffer.count }

  package func key(_ index: Int) -> Bytes {
    buffer.bytes.slice(entries[index].keyOffset, entries[index].keyByteCount)
  }

  package func record(_ index: Int) -> Bytes {
    buffer.bytes.slice(entries[index].recordOffset, entries[index].recordByteCount)
  }

  /// Copies a message into the buffer.
  ///
  /// The bytes must not lie in the run itself.
  @inline(never)
  private mutating func copy(_ key: Bytes, _ record: Bytes) -> Entry {
    let start = buffer.count
    buffer.append(key)
    buffer.append(record)
    return Entry(
      keyOffset: start, keyByteCount: key.count, recordOffset: start + key.count,
      recordByteCount: record.count)
  }

  /// Appends a message after all others.
  @inline(never)
  package mutating func append(_ key: Bytes, _ record: Bytes) { entries.append(copy(key, record)) }

  /// Appends a message of a segment after all others.
  @inline(never)
  package mutating func append(
    _ segment: borrowing UnpackedSegment, _ index: Int, in number: UInt32
  ) {
    let start = buffer.count
    buffer.append(bigEndian: number)
    segment.appendKey(index, to: &buffer)
    let recordOffset = buffer.count
    segment.record(index).append(to: &buffer)
    entries.append(
      Entry(
        keyOffset: start, keyByteCount: recordOffset - start, recordOffset: recordOffset,
        recordByteCount: buffer.count - recordOffset))
  }

  /// Returns true if each key is above the previous one.
  ///
  /// In a damaged store a cell may lie within a segment.
  func isAscending(_ range: Range<Int>) -> Bool {
    range.dropFirst().allSatisfy { key($0 - 1).compare(to: key($0)) < 0 }
  }

  /// Returns the index of the first message whose key is not below `key`, and true if its key is
  /// equal.
  func search(_ key: Bytes) -> (index: Int, isEqual: Bool) {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      let order = self.key(middle).compare(to: key)
      if order == 0 { return (middle, true) }
      if order < 0 { low = middle + 1 } else { high = middle }
    }
    return (low, false)
  }

  /// Inserts a record, or replaces the one with the same key.
  mutating func set(_ key: Bytes, _ record: Bytes) {
    let found = search(key)
    let entry = copy(key, record)
    if found.isEqual {
      entries[found.index] = entry
    } else {
      entries.insert(entry, at: found.index)
    }
  }

  mutating func remove(at index: Int) { entries.remove(at: index) }

  package mutating func removeAll() {
    entries.removeAll(keepingCapacity: true)
    buffer.removeAll()
  }
}
