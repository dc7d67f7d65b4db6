/// A writer of HTML that takes text as text and names as names.
///
///  1. Only literals of this program are markup: names of elements and attributes. Everything else
///     is escaped, byte by byte, so that no combining mark can hide a bracket.
///  2. Elements close in the order in which they were opened.
///  3. Bytes leave in pieces, so a page of any length takes little memory. The first failure of the
///     sink ends all writing and is thrown by `check` and `finish`; other calls need no `try`.
package final class HTMLWriter {
  /// The attributes of an element; the values are escaped.
  package typealias Attributes = KeyValuePairs<String, String>

  private static let pieceByteCount = 64 * 1024

  private var bytes: [UInt8] = []
  private var openNames: [String] = []
  private var failure: ToolError?
  private let sink: ([UInt8]) throws(ToolError) -> Void

  /// Creates a writer that passes its bytes on in pieces.
  package init(_ sink: @escaping ([UInt8]) throws(ToolError) -> Void) {
    self.sink = sink
    bytes.reserveCapacity(Self.pieceByteCount * 2)
  }

  // MARK: Elements

  /// Begins an element.
  package func open(_ name: String, _ attributes: Attributes = [:]) {
    start(name, attributes)
    append(">")
    openNames.append(name)
  }

  /// Ends the innermost element.
  package func close() {
    guard let name = openNames.popLast() else { preconditionFailure("close: no open element") }
    append("</\(name)>")
    if Self.endsLine(name) { append("\n") }
    flushIfLarge()
  }

  /// Writes an element with the content that `body` writes.
  package func element<Failure: Error>(
    _ name: String, _ attributes: Attributes = [:], _ body: () throws(Failure) -> Void
  ) throws(Failure) {
    open(name, attributes)
    try body()
    close()
  }

  /// Writes an element that holds text.
  package func element(_ name: String, _ attributes: Attributes = [:], _ text: String) {
    open(name, attributes)
    self.text(text)
    close()
  }

  /// Writes an element that has no content.
  package func empty(_ name: String, _ attributes: Attributes = [:]) {
    start(name, attributes)
    append("/>")
  }

  private func start(_ name: String, _ attributes: Attributes) {
    append("<\(name)")
    for (attribute, value) in attributes {
      append(" \(attribute)=\"")
      escape(value) { appendAttribute($0) }
      append("\"")
    }
  }

  /// True for elements that stand in lines of their own in the source of a page.
  private static func endsLine(_ name: String) -> Bool {
    switch name {
    case "a", "b", "bdi", "code", "i", "rect", "small", "span", "td", "th", "time", "title": false
    default: true
    }
  }

  // MARK: Text

  /// Writes text, with control characters shown by their numbers.
  ///
  /// Line feeds and tabs stay as they are.
  package func text(_ text: String) {
    escape(text) { scalar in
      append("<span class=\"code\">\(Self.name(of: scalar))</span>")
    }
    flushIfLarge()
  }

  /// Writes a style sheet, which is a literal of this program.
  package func style(_ css: String) {
    open("style")
    append(css)
    append("\n")
    close()
  }

  /// Writes the first line of a page.
  func doctype() { append("<!DOCTYPE html>\n") }

  /// Appends text with escapes; `hidden` gets the characters that a reader would not see.
  private func escape(_ text: String, _ hidden: (Unicode.Scalar) -> Void) {
    let scalars = text.unicodeScalars
    var index = scalars.startIndex
    while index < scalars.endIndex {
      let scalar = scalars[index]
      scalars.formIndex(after: &index)
      switch scalar {
      case "&": append("&amp;")
      case "<": append("&lt;")
      case ">": append("&gt;")
      case "\"": append("&quot;")
      case "'": append("&#39;")
      // Before a line feed it says nothing.
      case "\r" where index < scalars.endIndex && scalars[index] == "\n": break
      case _ where scalar.isHidden: hidden(scalar)
      default: bytes.append(contentsOf: UTF8.encode(scalar) ?? .init())
      }
    }
  }

  /// Appends the name of a character to the value of an attribute, which cannot hold elements.
  private func appendAttribute(_ scalar: Unicode.Scalar) {
    append("[\(Self.name(of: scalar))]")
  }

  /// Returns the name of a character: `U+202E`.
  package static func name(of scalar: Unicode.Scalar) -> String {
    let digits = String(scalar.value, radix: 16, uppercase: true)
    return "U+" + String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
  }

  // MARK: Bytes

  /// Throws the first failure of the sink, if there was one.
  package func check() throws(ToolError) {
    if let failure { throw failure }
  }

  /// Ends the page.
  package func finish() throws(ToolError) {
    precondition(openNames.isEmpty, "finish: open elements")
    flush()
    try check()
  }

  private func append(_ markup: String) { bytes.append(contentsOf: markup.utf8) }

  private func flushIfLarge() {
    if bytes.count >= Self.pieceByteCount { flush() }
  }

  private func flush() {
    defer { bytes.removeAll(keepingCapacity: true) }
    guard failure == nil, !bytes.isEmpty else { return }
    do throws(ToolError) {
      try sink(bytes)
    } catch {
      failure = error
    }
  }
}

extension Unicode.Scalar {
  /// True for control characters except line feed and tab, line separators, characters that change
  /// the direction of the text after them, and those that HTML forbids.
  fileprivate var isHidden: Bool {
    switch value {
    case 0x09, 0x0A: false
    case 0..<0x20, 0x7F..<0xA0, 0x2028...0x202E, 0x2066...0x2069, 0xFDD0...0xFDEF: true
    default: value & 0xFFFE == 0xFFFE
    }
  }
}
