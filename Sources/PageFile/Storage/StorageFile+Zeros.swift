/// Fills a range of a file with zeros.
/// - Throws: What writing throws; some zeros may be there then.
func writeZeros(
  _ file: any StorageFile, from start: Int, to end: Int
) throws(PageFileError) {
  var zeros = ByteBuffer(capacity: 256 << 10)
  zeros.append(zeros: 256 << 10)
  var offset = start
  while offset < end {
    let byteCount = min(zeros.count, end - offset)
    do throws(PageFileError) {
      try file.write(zeros.bytes.slice(0, byteCount), at: offset)
    } catch .ioError(_, SystemCall.noRoom, _) {
      // A part was written, which nobody needs.
      throw .diskFull
    }
    offset += byteCount
  }
}
