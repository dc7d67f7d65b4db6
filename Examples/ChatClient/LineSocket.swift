import Foundation

/// One end of a Unix-domain socket that carries one line of JSON in each direction by turns.
///
/// Nobody sends a second line before the answer to the first, so a line has come when the last byte
/// that has come is its end. One thread at a time may use it.
final class LineSocket {
  private let descriptor: Int32
  private static let newline = UInt8(ascii: "\n")

  init(_ descriptor: Int32) {
    self.descriptor = descriptor
    #if !os(Linux)
      var one: Int32 = 1
      _ = unsafe setsockopt(
        descriptor, SOL_SOCKET, SO_NOSIGPIPE, &one, socklen_t(MemoryLayout<Int32>.size))
    #endif
  }

  deinit { close(descriptor) }

  /// Connects to somebody who listens; nil when nobody does.
  static func connecting(to path: String) -> LineSocket? {
    let socket = LineSocket(open())
    let status = unsafe withAddress(of: path) { address, byteCount in
      unsafe connect(socket.descriptor, address, byteCount)
    }
    return status == 0 ? socket : nil
  }

  /// Gives a socket a name and listens on it; returns its descriptor.
  static func listening(on path: String) throws -> Int32 {
    let descriptor = open()
    let status = unsafe withAddress(of: path) { address, byteCount in
      unsafe bind(descriptor, address, byteCount)
    }
    guard status == 0, listen(descriptor, 64) == 0 else {
      let code = POSIXErrorCode(rawValue: errno) ?? .EIO
      close(descriptor)
      throw POSIXError(code)
    }
    return descriptor
  }

  private static func open() -> Int32 {
    #if os(Linux)
      socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    #else
      socket(AF_UNIX, SOCK_STREAM, 0)
    #endif
  }

  private static func withAddress(
    of path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    let isNamed = unsafe withUnsafeMutableBytes(of: &address.sun_path) { target in
      // The system wants a zero behind the name.
      guard bytes.count < target.count else { return false }
      unsafe target.copyBytes(from: bytes)
      return true
    }
    guard isNamed else { return -1 }
    return unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        unsafe body(pointer, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }

  /// Gives up on an answer that has not begun to come after so many seconds.
  func setTimeOut(seconds: Int) {
    var limit = timeval(tv_sec: seconds, tv_usec: 0)
    _ = unsafe setsockopt(
      descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  /// Sends a value as one line.
  func send(_ value: some Encodable) throws(LinkError) {
    guard var line = try? JSONEncoder().encode(value) else { throw .noConnection }
    line.append(Self.newline)
    var offset = 0
    while offset < line.count {
      let count = unsafe line.withUnsafeBytes { bytes in
        #if os(Linux)
          let flags = Int32(MSG_NOSIGNAL)
        #else
          let flags: Int32 = 0
        #endif
        return unsafe Foundation.send(
          descriptor, bytes.baseAddress?.advanced(by: offset), bytes.count - offset, flags)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw .noConnection }
      offset += count
    }
  }

  /// Waits for one line.
  func receive<Value: Decodable>(_ type: Value.Type) throws(LinkError) -> Value {
    var line: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 256 << 10)
    while line.last != Self.newline {
      let count = unsafe part.withUnsafeMutableBytes { bytes in
        unsafe recv(descriptor, bytes.baseAddress, bytes.count, 0)
      }
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN { throw .timeOut }
      guard count > 0 else { throw .noConnection }
      line += part[..<count]
    }
    guard let value = try? JSONDecoder().decode(type, from: Data(line)) else {
      throw .noConnection
    }
    return value
  }
}
