/// Fills a range of a file with zeros.
/// - Throws: Any error of a write; some of the zeros may have been written.
func writeZeros(
  _ file: any StorageFile, from start: Int, to end: Int
) throws(PageFileError) {
  guard start < end else { return }
  let pieceByteCount = min(256 << 10, end - start)
  var zeros = ByteBuffer(capacity: pieceByteCount)
  zeros.append(zeros: pieceByteCount)
  var offset = start
  while offset < end {
    let byteCount = min(zeros.count, end - offset)
    do throws(PageFileError) {
      try file.write(zeros.bytes.slice(0, byteCount), at: offset)
    } catch .ioError(_, SystemCall.noRoom, _) {
      // Part of the range was written; that is harmless.
      throw .diskFull
    }
    offset += byteCount
  }
}
