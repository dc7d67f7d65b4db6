/// Writes the fields of one object.
struct JSONObjectWriter: JSONFieldVisitor {
  private var bytes: [UInt8]
  private var isEmpty = true

  /// Creates a writer that appends to the given bytes.
  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Returns all bytes, once all fields are written.
  mutating func finish() -> [UInt8] {
    if isEmpty { bytes.append(UInt8(ascii: "{")) }
    bytes.append(UInt8(ascii: "}"))
    defer { bytes = [] }
    return bytes
  }

  mutating func required<V: JSONValue>(_ name: String, _ value: inout V) { write(name, value) }

  mutating func nullable<V: JSONValue>(_ name: String, _ value: inout V?) {
    if let value { return write(name, value) }
    writeName(name)
    bytes.append(contentsOf: "null".utf8)
  }

  mutating func optional<V: JSONValue>(_ name: String, _ value: inout V?) {
    if let value { write(name, value) }
  }

  mutating func optional<V: JSONValue & Equatable>(
    _ name: String, _ value: inout V, assumed: V
  ) {
    if value != assumed { write(name, value) }
  }

  mutating func always<V: JSONValue>(_ name: String, _ value: inout V) { write(name, value) }

  private mutating func write(_ name: String, _ value: some JSONValue) {
    writeName(name)
    value.append(to: &bytes)
  }

  private mutating func writeName(_ name: String) {
    bytes.append(isEmpty ? UInt8(ascii: "{") : UInt8(ascii: ","))
    isEmpty = false
    name.append(to: &bytes)
    bytes.append(UInt8(ascii: ":"))
  }
}
