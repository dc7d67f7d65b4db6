import PageFile

extension MemoryDirectory {
  /// Which meta slot of the store `x` is the newer one, and its write number; nil where none can be read.
  var newestMetaSlot: (slot: Int, writeNumber: UInt64)? {
    guard let bytes = self["x"] else { return nil }
    let found = (0..<2).compactMap { slot -> (slot: Int, writeNumber: UInt64)? in
      let start = MetaSlot.offset(of: slot)
      let reading = Bytes.with(Array(bytes[start..<start + MetaSlot.byteCount])) {
        MetaSlot.read($0)
      }
      guard case .valid(let meta) = reading else { return nil }
      return (slot, meta.writeNumber)
    }
    return found.max { $0.writeNumber < $1.writeNumber }
  }
}
