import Foundation

/// A page read strictly: every tag has its end, every value its quotes, every mark its escape.
///
/// Far stricter than HTML, which makes something of any bytes: so that nothing in a page can be other
/// than its writer meant.
struct HTMLDocument {
  struct Fault: Error, CustomStringConvertible {
    let description: String
  }

  struct Element {
    let name: String
    let attributes: [String: String]
    /// The names of the elements around it.
    let path: [String]
    /// The text in it and in the elements in it.
    var text = ""
  }

  private(set) var elements: [Element] = []
  private var open: [Int] = []
  private var bytes: ArraySlice<UInt8>

  init(_ page: Data) throws {
    guard let text = String(data: page, encoding: .utf8) else {
      throw Fault(description: "not UTF-8")
    }
    try self.init(text)
  }

  init(_ page: String) throws {
    bytes = ArraySlice(page.utf8)
    guard take("<!DOCTYPE html>\n") else { throw Fault(description: "no document type") }
    while let byte = bytes.first {
      if byte == UInt8(ascii: "<") { try readTag() } else { try readText() }
    }
    guard open.isEmpty else {
      throw Fault(description: "open at the end: \(open.map { elements[$0].name })")
    }
    guard elements.first?.name == "html" else { throw Fault(description: "no root") }
  }

  /// The elements of a name, with a class among theirs if one is given.
  func elements(_ name: String, of style: String? = nil) -> [Element] {
    elements.filter { element in
      element.name == name
        && (style.map {
          (element.attributes["class"] ?? "").split(separator: " ").map(String.init).contains($0)
        } ?? true)
    }
  }

  func element(id: String) -> Element? { elements.first { $0.attributes["id"] == id } }

  /// The texts of all elements of a name.
  func texts(_ name: String, of style: String? = nil) -> [String] {
    elements(name, of: style).map(\.text)
  }

  // MARK: Reading

  private func fault(_ sentence: String) -> Fault {
    let near = String(decoding: bytes.prefix(60), as: UTF8.self)
    return Fault(description: "\(sentence) at \"\(near)\" in \(open.map { elements[$0].name })")
  }

  private mutating func take(_ text: String) -> Bool {
    guard bytes.starts(with: text.utf8) else { return false }
    bytes = bytes.dropFirst(text.utf8.count)
    return true
  }

  private mutating func takeName() throws -> String {
    let name = bytes.prefix { byte in
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
    }
    guard !name.isEmpty else { throw fault("no name") }
    bytes = bytes.dropFirst(name.count)
    return String(decoding: name, as: UTF8.self)
  }

  private mutating func readTag() throws {
    if take("</") {
      let name = try takeName()
      guard take(">"), let index = open.popLast(), elements[index].name == name else {
        throw fault("end of \(name)")
      }
      return
    }
    guard take("<") else { throw fault("tag") }
    let name = try takeName()
    var attributes: [String: String] = [:]
    while take(" ") {
      let attribute = try takeName()
      guard take("=\"") else { throw fault("attribute without quotes") }
      let value = bytes.prefix { $0 != UInt8(ascii: "\"") }
      bytes = bytes.dropFirst(value.count)
      guard take("\"") else { throw fault("open quotes") }
      let isNew = attributes.updateValue(try unescaped(value), forKey: attribute) == nil
      guard isNew else { throw fault("attribute twice") }
    }
    let path = open.map { elements[$0].name }
    elements.append(Element(name: name, attributes: attributes, path: path))
    if take("/>") { return }
    guard take(">") else { throw fault("end of tag") }
    open.append(elements.count - 1)
    if name == "style" { try readStyle() }
  }

  /// Reads a style sheet, which has no escapes and ends at the first end tag.
  private mutating func readStyle() throws {
    while !bytes.starts(with: "</".utf8) {
      guard bytes.popFirst() != nil else { throw fault("open style") }
    }
  }

  private mutating func readText() throws {
    let part = bytes.prefix { $0 != UInt8(ascii: "<") }
    bytes = bytes.dropFirst(part.count)
    let text = try unescaped(part)
    for index in open { elements[index].text += text }
    guard !open.isEmpty || text.allSatisfy(\.isWhitespace) else { throw fault("text outside") }
  }

  private func unescaped(_ part: ArraySlice<UInt8>) throws -> String {
    var text = String(decoding: part, as: UTF8.self)
    // By bytes: a mark behind a bracket must not hide it from this test either.
    for forbidden in [UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "'")]
    where part.contains(forbidden) {
      throw fault("unescaped \(forbidden) in \(text.prefix(80))")
    }
    for scalar in text.unicodeScalars {
      let isShown = scalar == "\n" || scalar == "\t" || scalar.value >= 0x20
      let isHidden =
        (0x7F..<0xA0).contains(scalar.value) || (0x202A...0x202E).contains(scalar.value)
        || (0x2066...0x2069).contains(scalar.value)
      if !isShown || isHidden { throw fault("character U+\(String(scalar.value, radix: 16))") }
    }
    for (escape, character) in [
      ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"),
    ] {
      text = text.replacingOccurrences(of: escape, with: character, options: .literal)
    }
    let rest = text.replacingOccurrences(of: "&amp;", with: "", options: .literal)
    guard !rest.utf8.contains(UInt8(ascii: "&")) else {
      throw fault("unescaped & in \(text.prefix(80))")
    }
    return text.replacingOccurrences(of: "&amp;", with: "&", options: .literal)
  }
}

extension HTMLDocument {
  /// Throws if the page asks for anything beside itself, or would run a script.
  func expectSelfContained() throws {
    let policy = elements("meta").compactMap { $0.attributes["content"] }
    guard policy.contains("default-src 'none'; style-src 'unsafe-inline'") else {
      throw Fault(description: "no policy")
    }
    for element in elements {
      guard !["script", "link", "img", "iframe", "object", "base"].contains(element.name) else {
        throw Fault(description: "element \(element.name)")
      }
      for (name, value) in element.attributes {
        guard !name.hasPrefix("on"), name != "src", name != "style" else {
          throw Fault(description: "attribute \(name)")
        }
        guard name == "href" else { continue }
        let isLink = value.hasPrefix("http://") || value.hasPrefix("https://")
        guard value.hasPrefix("#") || isLink && element.attributes["rel"] == "noopener noreferrer"
        else { throw Fault(description: "href \(value)") }
      }
    }
    let ids = elements.compactMap { $0.attributes["id"] }
    guard Set(ids).count == ids.count else { throw Fault(description: "an id twice") }
    for link in elements("a").compactMap({ $0.attributes["href"] }) where link.hasPrefix("#") {
      guard ids.contains(String(link.dropFirst())) else {
        throw Fault(description: "link to nowhere: \(link)")
      }
    }
  }

  /// Throws if a picture has no words, or a heading is missing.
  func expectAccessible() throws {
    guard elements.first?.attributes["lang"] == "en", texts("title").first?.isEmpty == false,
      elements("h1").count == 1, elements("main").count == 1
    else { throw Fault(description: "no language, title, heading, or main part") }
    for element in elements {
      let isHidden = element.attributes["aria-hidden"] == "true"
      if element.name == "svg", !isHidden {
        guard element.attributes["role"] == "img",
          element.attributes["aria-label"]?.isEmpty == false
        else { throw Fault(description: "picture without words") }
      }
      if element.attributes["role"] == "img", element.attributes["aria-label"] == nil {
        throw Fault(description: "picture without a name")
      }
    }
  }
}
