/// Marking a log whose commits the data file has.
extension WALWriter {
  /// Says in a file's header that its commits are in the data file, before they are overwritten or cut
  /// off together with what proves that they were durable.
  ///
  /// Without that an older copy of the data file would pass for one that has all the log has. It needs
  /// no sync: data file and log fit each other with or without it.
  func markSettled(_ file: Int, upTo lsn: LSN) throws(PageFileError) {
    if Defect.settledLogUnmarked.isPlanted { return }
    var bytes = ByteBuffer(capacity: WALHeader.byteCount)
    bytes.append(zeros: WALHeader.byteCount)
    guard try files[file].readFully(into: bytes.mutableBytes, at: 0),
      var header = WALHeader(bytes.bytes), !header.isEmpty, header.settledLSN < lsn
    else { return }
    header.settledLSN = lsn
    try files[file].write(header.encode(), at: 0)
  }
}
