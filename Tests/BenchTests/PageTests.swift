import Testing
import msgstore_bench

/// The page shows all that was measured, and nothing in it comes from elsewhere.
struct PageTests {
  @Test func whatStandsInTextDoesNotBecomeMarkup() {
    #expect(
      HTML.escaped(#"<a href="x">'&'</a>"#)
        == "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;")
    #expect(HTML.escaped("Grüße 👋🏽 \u{0}&amp;") == "Grüße 👋🏽 \u{0}&amp;amp;")
    #expect(HTML.escaped("<\u{301}b>") == "&lt;\u{301}b&gt;")
    let page = report().text(as: .html)
    #expect(page.contains("WAL, &lt;64 MiB&gt; &amp; &quot;more&quot;"))
    #expect(page.contains("newest 50 of &lt;the&gt; thread"))
    #expect(page.contains("A &amp; B"))
  }

  @Test func thePageNeedsNothingButItself() {
    let page = report().text(as: .html)
    for word in ["http:", "https:", "<script", "<link", "<img", "@import", "url("] {
      #expect(!page.contains(word), "\(word)")
    }
  }

  @Test func everyTagIsClosedInItsTurn() throws {
    var open: [Substring] = []
    let page = report().text(as: .html)
    for piece in page.split(separator: "<").dropFirst() {
      let tag = try #require(piece.split(separator: ">").first)
      let name = tag.prefix { !" >".contains($0) }
      if name.hasPrefix("/") {
        #expect(open.popLast() == name.dropFirst(), "\(piece)")
      } else if !tag.hasSuffix("/"), name != "meta" {
        open.append(name)
      }
    }
    #expect(open.isEmpty)
  }

  /// msgstore is marked where it needs less, and the peer where the peer does.
  @Test func theBestIsMarked() {
    let figures = [(EngineName.msgstore, 2.0), (.sqlite, 1), (.limit, 0.5)].map { engine, median in
      Figure(
        engine: engine, workload: "edit", unit: Figure.perOperation, median: median, p99: median,
        operationCount: 1, versus: engine == .msgstore ? [(.sqlite, 0.5)] : [])
    }
    let page = report(figures: figures).text(as: .html)
    #expect(page.contains(#"class="row engine sqlite best""#))
    #expect(!page.contains(#"class="row engine msgstore best""#))
    #expect(!page.contains(#"class="row engine limit best""#))
    #expect(page.contains("Needs less than sqlite in 0 of 1 workloads"))
    #expect(page.contains("limit is the machine"))
  }

  @Test func aRunThatProvesLittleSaysSo() {
    var report = report()
    #expect(report.text(as: .html).contains("2000 messages: all of it fits"))
    report.machine.load = 6
    #expect(report.text(as: .html).contains("load 6.0 at the beginning"))
    #expect(report.text(as: .text).contains("load      6.0 at the beginning"))
  }

  @Test func sectionsWithoutFiguresAreLeftOut() {
    let machine = Machine(
      system: "", processor: "", coreCount: 1, memoryByteCount: 0, fileSystem: "",
      sqliteVersion: "", date: "")
    let report = Report(
      machine: machine, settings: [], engines: [],
      figures: [
        Figure(
          engine: .msgstore, workload: "size", unit: Figure.perMessage, median: 1, p99: 1,
          operationCount: 1)
      ])
    let page = report.text(as: .html)
    #expect(page.contains("<h2>Bytes</h2>"))
    #expect(!page.contains("<h2>Time</h2>"))
    #expect(!page.contains("<h2>Growth</h2>"))
  }

  @Test func placesOnAnAxisGoByPowersOfTen() {
    let scale = PlotScale(powersOfTenAround: [250, 8_000, 40_000])
    #expect(scale.ticks == [100, 1_000, 10_000, 100_000])
    #expect(scale.percent(100) == "0.00%")
    #expect(scale.percent(1_000) == "33.33%")
    #expect(scale.percent(100_000) == "100.00%")
    // Nothing is drawn outside.
    #expect(scale.percent(1) == "0.00%")
    #expect(scale.percent(0) == "0.00%")
    #expect(PlotScale(powersOfTenAround: []).ticks == [1, 10])
    #expect(PlotScale(powersOfTenAround: [100]).ticks == [100, 1_000])
    #expect(PlotScale(powersOfTenAround: [1, 1e6]).namedTicks == [1, 100, 1e4, 1e6])
  }

  @Test func onlyWorkloadsWithASizeAreScaled() {
    #expect(ScaledWorkload("scale/edit/10000")?.name == "edit")
    #expect(ScaledWorkload("scale/edit/10000")?.size == 10_000)
    for name in ["scale/edit", "edit", "scale/edit/many", "other/edit/10000", ""] {
      #expect(ScaledWorkload(name) == nil, "\(name)")
    }
  }
}
