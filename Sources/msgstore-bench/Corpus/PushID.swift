/// Ids of 20 characters as chat clients make them.
///
/// Eight characters encode the time in milliseconds, and twelve are random. The alphabet is in byte
/// order, so that later ids sort later.
enum PushID {
  private static let alphabet = Array(
    "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz".utf8)

  static func make(milliseconds: Int64, using generator: inout SeededGenerator) -> String {
    var time = UInt64(bitPattern: milliseconds)
    var random = generator.next()
    var bytes = [UInt8](repeating: 0, count: 20)
    for index in stride(from: 7, through: 0, by: -1) {
      bytes[index] = alphabet[Int(time & 63)]
      time >>= 6
    }
    for index in 8..<20 {
      if index == 14 { random = generator.next() }
      bytes[index] = alphabet[Int(random & 63)]
      random >>= 6
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
