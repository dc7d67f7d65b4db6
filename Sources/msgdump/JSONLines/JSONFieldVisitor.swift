/// Goes through the fields of an object in their order, to read them or to write them.
///
/// What an object's fields are is said once, by `JSONObjectValue.visit`, for both directions: so what
/// is written can be read, and nothing is forgotten in one of them.
protocol JSONFieldVisitor {
  /// A field that has to be there.
  mutating func required<V: JSONValue>(_ name: String, _ value: inout V) throws(ToolError)

  /// A field that has to be there, and says something by being null.
  mutating func nullable<V: JSONValue>(_ name: String, _ value: inout V?) throws(ToolError)

  /// A field that may be missing.
  mutating func optional<V: JSONValue>(_ name: String, _ value: inout V?) throws(ToolError)

  /// A field that may be missing and then stands for a value, and is left out where it says that.
  mutating func optional<V: JSONValue & Equatable>(
    _ name: String, _ value: inout V, assumed: V
  ) throws(ToolError)

  /// A field that may be missing and is always written.
  mutating func always<V: JSONValue>(_ name: String, _ value: inout V) throws(ToolError)
}

extension JSONFieldVisitor {
  /// A list that is left out where it is empty.
  mutating func list<V: JSONValue & Equatable>(
    _ name: String, _ values: inout [V]
  ) throws(ToolError) {
    try optional(name, &values, assumed: [])
  }

  /// A mark that is left out where it is not set.
  mutating func flag(_ name: String, _ value: inout Bool) throws(ToolError) {
    try optional(name, &value, assumed: false)
  }
}

/// What a field can hold.
protocol JSONValue {
  /// Reads the value that comes next.
  init(_ scanner: inout JSONScanner) throws(ToolError)
  /// Writes the value, always the same bytes for the same value.
  func append(to bytes: inout [UInt8])
}

/// A value that is an object.
protocol JSONObjectValue: JSONValue {
  init()
  /// What such an object is called when something is wrong with it: with its article.
  static var noun: String { get }
  /// Shows all fields to a visitor, in the order in which they are written.
  mutating func visit(_ fields: inout some JSONFieldVisitor) throws(ToolError)
}

extension JSONObjectValue {
  init(_ scanner: inout JSONScanner) throws(ToolError) {
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
    do throws(ToolError) {
      try copy.visit(&writer)
    } catch {
      // The writer throws nothing; only readers do.
    }
  }
}
