import Testing
import msgdump

/// What the tool's HTML is made of: escapes, links, figures.
struct HTMLWriterTests {
  private func written(_ body: (HTMLWriter) -> Void) throws -> String {
    let output = Collected()
    let writer = HTMLWriter { bytes throws(ToolError) in output.bytes += bytes }
    body(writer)
    try writer.finish()
    return String(decoding: output.bytes, as: UTF8.self)
  }

  /// What a writer has passed on.
  private final class Collected {
    var bytes: [UInt8] = []
    var pieceCount = 0
  }

  @Test(arguments: [
    ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
    ("a & b &amp; c", "a &amp; b &amp;amp; c"), ("\"'`", "&quot;&#39;`"),
    // A mark joins the bracket to one character, which is none of those to be escaped.
    ("<\u{338}img src=x>\u{301}", "&lt;\u{338}img src=x&gt;\u{301}"),
    ("a\u{202e}b", "a<span class=\"code\">U+202E</span>b"),
    ("\0\u{7}", "<span class=\"code\">U+0000</span><span class=\"code\">U+0007</span>"),
    ("one\r\ntwo\n\tthree", "one\ntwo\n\tthree"),
    ("one\rtwo\r", "one<span class=\"code\">U+000D</span>two<span class=\"code\">U+000D</span>"),
    ("\u{fffe}\u{2067}", "<span class=\"code\">U+FFFE</span><span class=\"code\">U+2067</span>"),
    ("שלום \u{200f}👩‍👩‍👧 é", "שלום \u{200f}👩‍👩‍👧 é"),
  ])
  func textIsText(text: String, html: String) throws {
    #expect(try written { $0.text(text) } == html)
  }

  @Test func valuesCannotLeaveTheirQuotes() throws {
    let html = try written { writer in
      writer.element("a", ["title": "\" onclick='x' <b>\u{202e}\n"], "x")
    }
    #expect(
      html == "<a title=\"&quot; onclick=&#39;x&#39; &lt;b&gt;[U+202E]\n\">x</a>")
  }

  @Test func elementsCloseInTheirOrder() throws {
    let html = try written { writer in
      writer.element("ul") {
        writer.open("li")
        writer.element("b", [:], "1")
        writer.empty("br")
        writer.close()
      }
    }
    #expect(html == "<ul><li><b>1</b><br/></li>\n</ul>\n")
  }

  @Test func aLongPageLeavesInPieces() throws {
    let output = Collected()
    var largest = 0
    let writer = HTMLWriter { bytes throws(ToolError) in
      output.pieceCount += 1
      largest = max(largest, bytes.count)
    }
    for _ in 0..<20_000 { writer.element("p", [:], "a paragraph of a page") }
    try writer.finish()
    #expect(output.pieceCount > 5 && largest < 80_000)
  }

  @Test func theFirstFailureIsThrownAtTheEnd() {
    let output = Collected()
    let writer = HTMLWriter { _ throws(ToolError) in
      output.pieceCount += 1
      throw .outputClosed
    }
    for _ in 0..<20_000 { writer.element("p", [:], "a paragraph of a page") }
    #expect(throws: ToolError.outputClosed) { try writer.check() }
    #expect(throws: ToolError.outputClosed) { try writer.finish() }
    #expect(output.pieceCount == 1)
  }

  // MARK: Links

  @Test(arguments: [
    ("see https://example.com/a?b=1&c=2.", ["https://example.com/a?b=1&c=2"]),
    ("(https://example.com) and HTTP://x.org/;", ["https://example.com", "HTTP://x.org/"]),
    ("https://en.wikipedia.org/wiki/Swift_(bird)", ["https://en.wikipedia.org/wiki/Swift_(bird)"]),
    ("<https://a.b>\"https://c.d\"", ["https://a.b", "https://c.d"]),
    ("https://a.b\u{202e}gpj.exe", ["https://a.b"]), ("https://例え.jp/道。", ["https://例え.jp/道。"]),
    ("javascript:alert(1) data:text/html,x ftp://x http:/x", []),
    ("https:// http://. xhttps://a.b", []), ("", []), ("h http https", []),
    ("https://a.bhttps://c.d", ["https://a.bhttps://c.d"]),
  ])
  func linksAreFound(text: String, links: [String]) {
    let parts = LinkFinder.parts(of: text)
    let found = parts.compactMap { if case .link(let link) = $0 { link } else { nil } }
    #expect(found == links)
    let whole = parts.map {
      switch $0 {
      case .text(let text), .link(let text): text
      }
    }
    #expect(whole.joined() == text)
  }

  // MARK: Figures

  @Test func figuresAreReadable() {
    #expect([0, 999, 1000, 1_234_567].map(Figures.grouped) == ["0", "999", "1,000", "1,234,567"])
    #expect(Figures.grouped(-12_345) == "-12,345" && Figures.grouped(.min).hasPrefix("-9,223"))
    #expect(
      [1, 999, 1000, 24_540, 999_600, 12_345_678, .max].map(Figures.bytes)
        == ["1 byte", "999 bytes", "1 kB", "24.5 kB", "1 MB", "12.3 MB", "9,223,372 TB"])
    #expect(
      [0, 0.0001, 0.004, 0.5, 0.997, 0.9999, 1, 2].map(Figures.percent)
        == ["0%", "under 0.1%", "0.4%", "50%", "99.7%", "over 99.9%", "100%", "100%"])
    #expect(Figures.percent(1, of: 0) == "-" && Figures.percent(1, of: 3) == "33%")
    #expect(Figures.counted(1, "page") == "1 page")
    #expect(Figures.counted(2000, "entry", "entries") == "2,000 entries")
  }
}
