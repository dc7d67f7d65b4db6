/// Marking a log whose commits are in the data file.
extension WALWriter {
  /// Marks in a file's header that its commits are in the data file.
  ///
  /// This is done before the commits are overwritten or cut off, together with the witnesses that
  /// they were durable. Without the mark an older copy of the data file would pass for one that has
  /// all commits of the log. The mark needs no sync: data file and log match with or without it.
  func markSettled(_ file: Int, upTo lsn: LSN) throws(PageFileError) {
    if Defect.settledLogUnmarked.isPlanted { return }
    var bytes = ByteBuffer(capacity: WALHeader.byteCount)
    bytes.append(zeros: WALHeader.byteCount)
    guard try files[file].readFully(into: bytes.mutableBytes, at: 0),
      var header = WALHeader.read(bytes.bytes, form.keys), !header.isEmpty, !header.isLocked,
      header.settledLSN < lsn
    else { return }
    header.settledLSN = lsn
    try files[file].write(header.encode(form.keys), at: 0)
  }
}
