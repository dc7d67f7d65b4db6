/// The parts that all pages have: head, sections, tables, bars.
extension HTMLWriter {
  /// Writes a page that needs nothing beside itself.
  ///
  /// The policy in its head refuses every script and every request, so that a page stays harmless
  /// whatever a message holds.
  func page(title: String, style css: String, _ body: () throws -> Void) rethrows {
    doctype()
    open("html", ["lang": "en"])
    element("head") {
      empty("meta", ["charset": "utf-8"])
      empty(
        "meta",
        [
          "http-equiv": "Content-Security-Policy",
          "content": "default-src 'none'; style-src 'unsafe-inline'",
        ])
      empty("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"])
      empty("meta", ["name": "color-scheme", "content": "light dark"])
      empty("meta", ["name": "referrer", "content": "no-referrer"])
      element("title", [:], title)
      style(css)
    }
    open("body")
    try body()
    close()
    close()
  }

  /// Writes text of other people so that its direction does not reach the text around it.
  func isolated(_ text: String) { element("bdi", [:], text) }

  /// Writes a section with its heading.
  func section(_ id: String, _ title: String, _ body: () -> Void) {
    element("section", ["id": id, "aria-labelledby": "\(id)-title"]) {
      element("h2", ["id": "\(id)-title"], title)
      body()
    }
  }

  /// Writes a table that scrolls in its own box if it is wider than the page.
  ///
  /// The first cell of a row is its name.
  func table(_ caption: String, _ header: [String], _ rows: [[String]]) {
    open("div", ["class": "scroll", "tabindex": "0", "role": "region", "aria-label": caption])
    open("table")
    element("caption", [:], caption)
    element("thead") {
      element("tr") {
        for name in header { element("th", ["scope": "col"], name) }
      }
    }
    element("tbody") {
      for row in rows {
        element("tr") {
          element("th", ["scope": "row"]) { isolated(row.first ?? "") }
          for cell in row.dropFirst() { element("td", [:], cell) }
        }
      }
    }
    close()
    close()
  }

  /// Writes content that a reader can fold out.
  func details(_ summary: String, _ body: () -> Void) {
    element("details") {
      element("summary", [:], summary)
      body()
    }
  }

  /// Writes bars that lie below each other, with their names and figures.
  ///
  /// - Parameter label: The sentence that stands for the picture where it cannot be seen.
  func bars(_ label: String, _ bars: [HTMLBar]) {
    element("div", ["class": "bars", "role": "img", "aria-label": label]) {
      for bar in bars {
        element("div", ["class": "bar"]) {
          element("span") { isolated(bar.name) }
          element("svg", ["class": "line", "aria-hidden": "true"]) {
            element("rect", ["class": bar.style, "width": Figures.length(bar.drawnShare)]) {
              element("title", [:], "\(bar.name): \(bar.figure)")
            }
          }
          element("b", [:], bar.figure)
        }
      }
    }
  }

  /// Writes columns that stand side by side, each with a share of the height.
  func columns(_ label: String, style: String, _ columns: [(share: Double, title: String)]) {
    let step = 100.0 / Double(max(1, columns.count))
    open(
      "svg",
      [
        "class": "columns", "viewBox": "0 0 100 40", "preserveAspectRatio": "none", "role": "img",
        "aria-label": label,
      ])
    for (index, column) in columns.enumerated() {
      // A column that is not empty can be seen.
      let height = column.share > 0 ? max(0.6, column.share * 39) : 0
      element(
        "rect",
        [
          "class": style, "x": Figures.tenths(Double(index) * step + step * 0.05),
          "y": Figures.tenths(40 - height), "width": Figures.tenths(step * 0.9),
          "height": Figures.tenths(height),
        ]
      ) {
        element("title", [:], column.title)
      }
    }
    empty("line", ["class": "ground", "x1": "0", "x2": "100", "y1": "40", "y2": "40"])
    close()
  }
}

/// One bar of a picture.
struct HTMLBar {
  let name: String
  /// The length, 0 to 1.
  let share: Double
  let figure: String
  /// The class that gives the bar its colour.
  var style = "plain"

  /// The length as drawn: a bar that is not empty can be seen.
  var drawnShare: Double { share > 0 ? max(0.006, share) : 0 }
}
