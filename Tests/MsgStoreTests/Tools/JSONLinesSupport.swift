import MsgStore
import MsgStoreTools

/// Bytes handed out in pieces, as a file or a pipe would.
func source(of bytes: [UInt8], pieceByteCount: Int = .max) -> LineReader.Source {
  var readByteCount = 0
  return { buffer, offset in
    let byteCount = min(pieceByteCount, bytes.count - readByteCount, buffer.count - offset)
    // The plain way to replace bytes of an array takes seconds for long lines without optimization.
    unsafe buffer.withUnsafeMutableBytes { buffer in
      let place = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[offset...])
      unsafe place.copyBytes(from: bytes[readByteCount..<readByteCount + byteCount])
    }
    readByteCount += byteCount
    return byteCount
  }
}

/// All records of some lines.
func records(of bytes: [UInt8], isLenient: Bool = false) throws -> [JSONRecord] {
  var reader = JSONRecordReader(isLenient: isLenient, source: source(of: bytes))
  var records: [JSONRecord] = []
  while let record = try reader.next() { records.append(record) }
  return records
}

func records(of text: String, isLenient: Bool = false) throws -> [JSONRecord] {
  try records(of: Array(text.utf8), isLenient: isLenient)
}

/// The only record of a line, as a message.
func message(of text: String, isLenient: Bool = false) throws -> ExportedMessage? {
  let records = try records(of: text, isLenient: isLenient)
  guard records.count == 1, case .message(let message) = records[0] else { return nil }
  return message
}

/// Why some lines are refused; nil when they are not.
func refusal(of bytes: [UInt8], isLenient: Bool = false) -> String? {
  do {
    _ = try records(of: bytes, isLenient: isLenient)
    return nil
  } catch {
    return "\(error)"
  }
}

func refusal(of text: String, isLenient: Bool = false) -> String? {
  refusal(of: Array(text.utf8), isLenient: isLenient)
}

/// The lines of some records.
func lines(of records: [JSONRecord]) -> String {
  var bytes: [UInt8] = []
  for record in records { JSONLineWriter.append(record, to: &bytes) }
  return String(decoding: bytes, as: UTF8.self)
}

/// A line with a message in which one field is as given.
func line(_ field: String) -> String {
  #"{"conversation":"c","id":"m","sender":"s","timestamp_ms":1,\#(field)}"#
}
