/// Visits the fields of an object in order, to read or to write them.
///
/// `JSONObjectValue.visit` defines an object's fields once for both directions, so whatever is
/// written can be read, and no field is forgotten in one of them.
protocol JSONFieldVisitor {
  /// Visits a field that must be present.
  mutating func required<V: JSONValue>(_ name: String, _ value: inout V) throws(StoreToolError)

  /// Visits a field that must be present, and in which null has a meaning.
  mutating func nullable<V: JSONValue>(_ name: String, _ value: inout V?) throws(StoreToolError)

  /// Visits a field that may be missing.
  mutating func optional<V: JSONValue>(_ name: String, _ value: inout V?) throws(StoreToolError)

  /// Visits a field that has a default, and is left out if it equals that.
  mutating func optional<V: JSONValue & Equatable>(
    _ name: String, _ value: inout V, assumed: V
  ) throws(StoreToolError)

  /// Visits a field that may be missing and is always written.
  mutating func always<V: JSONValue>(_ name: String, _ value: inout V) throws(StoreToolError)
}

extension JSONFieldVisitor {
  /// Visits a list that is left out if it is empty.
  mutating func list<V: JSONValue & Equatable>(
    _ name: String, _ values: inout [V]
  ) throws(StoreToolError) {
    try optional(name, &values, assumed: [])
  }

  /// Visits a flag that is left out if it is not set.
  mutating func flag(_ name: String, _ value: inout Bool) throws(StoreToolError) {
    try optional(name, &value, assumed: false)
  }
}

/// A value that a field can hold.
protocol JSONValue {
  /// Reads the next value.
  init(_ scanner: inout JSONScanner) throws(StoreToolError)
  /// Writes the value, always as the same bytes for the same value.
  func append(to bytes: inout [UInt8])
}

/// A value that is an object.
protocol JSONObjectValue: JSONValue {
  init()
  /// The name of such an object in errors, with its article.
  static var noun: String { get }
  /// Passes all fields to a visitor, in the order in which they are written.
  mutating func visit(_ fields: inout some JSONFieldVisitor) throws(StoreToolError)
}

extension JSONObjectValue {
  init(_ scanner: inout JSONScanner) throws(StoreToolError) {
    var fields = try JSONObjectReader(&scanner)
    self.init()
    try visit(&fields)
    try fields.finish(Self.noun)
  }

  func append(to bytes: inout [UInt8]) {
    var writer = JSONObjectWriter(bytes)
    bytes = []
    append(to: &writer)
    bytes = writer.finish()
  }

  func append(to writer: inout JSONObjectWriter) {
    var copy = self
    do throws(StoreToolError) {
      try copy.visit(&writer)
    } catch {
      // The writer throws nothing; only readers do.
    }
  }
}
